"""The distribution of confidence on the calibration sample, in a few numbers."""

from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_doubles
from abstain._draws import coarse, generator
from abstain._errors import InvalidInputError

PARTS = 100


@final
@dataclass(frozen=True)
class ScoreDistribution:
    """Confidences at ranks fixed beforehand, and the weight of each part between them.

    For independent samples of one distribution the chances of a new one to fall into the parts are Dirichlet with these
    weights, whatever the distribution: so what comes later can be tested exactly against the whole sample. Ties are
    broken by a uniform number that goes with each sample.
    """

    edges: tuple[float, ...]
    """Confidences, ascending, that bound the parts."""
    ties: tuple[float, ...]
    """Their uniform numbers."""
    weights: tuple[int, ...]
    """Differences of the ranks, the first from 0, the last to n + 1: one more than there are edges."""

    def __post_init__(self) -> None:
        pairs = _pairs(self.edges, self.ties) if len(self.edges) == len(self.ties) else np.empty(0)
        if (
            not len(pairs) == len(self.edges) == len(self.weights) - 1
            or np.isnan(pairs).any()
            or (np.sort(pairs) != pairs).any()
            or not all(1 <= weight <= 2**53 for weight in self.weights)
        ):
            raise InvalidInputError(
                "A distribution of confidence must have edges that rise and a weight from 1 on for each part, got "
                f"{len(self.edges)} edges and {len(self.weights)} weights."
            )

    @classmethod
    def of(cls, confidence: ArrayLike, /, *, seed: int = 0) -> Self:
        """The distribution of a sample, in up to 100 parts."""
        c = as_doubles("confidence", confidence)
        if c.ndim != 1 or not len(c) or np.isnan(c).any():
            raise InvalidInputError(
                f"`confidence` must be of shape (n,), n at least 1, without NaN, got shape {c.shape}."
            )
        u = generator("ties of the law of confidence", seed, coarse(c)).random(len(c))
        order = np.argsort(_pairs(c, u), kind="stable")
        ranks = np.unique(np.linspace(0, len(c) + 1, min(PARTS, len(c) + 1) + 1).astype(int))  # 0, …, n + 1
        at = order[ranks[1:-1] - 1]
        return cls(tuple(c[at].tolist()), tuple(u[at].tolist()), tuple(np.diff(ranks).tolist()))

    def parts(self, confidence: NDArray[np.float64], ties: NDArray[np.float64], /) -> NDArray[np.int64]:
        """The part (n,) of each sample, given its own uniform number."""
        return np.asarray(np.searchsorted(_pairs(self.edges, self.ties), _pairs(confidence, ties)))


def _pairs(confidence: ArrayLike, ties: ArrayLike) -> NDArray[np.complex128]:
    """Pairs as complex numbers, which NumPy orders by the first part and then by the second."""
    pairs = np.empty(np.shape(confidence), dtype=np.complex128)
    pairs.real, pairs.imag = confidence, ties
    return pairs

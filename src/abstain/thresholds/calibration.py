"""The calibration sample of a threshold: checked, one row a cluster, ready to count."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.metrics.ranking import rank
from abstain.thresholds.binomial import binomial_p, hoeffding_bentkus_p

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """Confidence and losses of independent samples, most trusted first."""

    confidence: Floats
    losses: Floats
    are_errors: bool
    """Whether every loss is 0 or 1, so that the exact binomial test applies."""

    def __len__(self) -> int:
        return len(self.confidence)

    def part(self, rows: NDArray[np.bool_], /) -> "Calibration":
        """Some of the samples."""
        return Calibration(self.confidence[rows], self.losses[rows], self.are_errors)

    def counts(self, threshold: float, /) -> tuple[int, float]:
        """How many samples are above a threshold, and their total loss."""
        accepted = int(np.searchsorted(-self.confidence, -threshold))  # strict: those equal to it stay out
        return accepted, float(self.losses[:accepted].sum())

    def p_value(self, threshold: float, risk: float, /) -> float:
        """Of "the selective risk at this threshold is above risk", for a threshold chosen without this sample."""
        accepted, total = self.counts(threshold)
        if self.are_errors:
            return binomial_p(total, accepted, risk)
        return hoeffding_bentkus_p(total / accepted, accepted, risk) if accepted else 1.0


def calibration_of(
    confidence: ArrayLike, losses: ArrayLike, /, *, ids: ArrayLike | None = None, seed: int = 0
) -> Calibration:
    """Check the sample and draw one row of each cluster, since copies of a sample are no independent evidence."""
    rank(confidence, losses)  # the checks, with their messages
    c, e = np.asarray(confidence, dtype=np.float64), np.asarray(losses, dtype=np.float64)
    if ids is not None:
        chosen = one_of_each(ids, len(c), seed=seed)
        c, e = c[chosen], e[chosen]
    order = np.argsort(-c, kind="stable")
    return Calibration(c[order], e[order], bool(((e == 0) | (e == 1)).all()))


def one_of_each(ids: ArrayLike | None, n: int, /, *, seed: int) -> NDArray[np.int64]:
    """One row, drawn at random, of each cluster; all rows without ids."""
    if ids is None:
        return np.arange(n)
    names = np.asarray(ids)
    if names.shape != (n,):
        raise ValueError(f"`ids` must have shape {(n,)}, one a sample, got {names.shape}.")
    order = np.random.default_rng(seed).permutation(n)
    return np.asarray(order[np.unique(names[order], return_index=True)[1]])


def check_target(name: str, value: float, /) -> None:
    """A number strictly between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"`{name}` must be between 0 and 1, got {value}.")

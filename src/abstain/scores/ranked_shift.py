"""RAS: a logit score of features that keep their order alone."""

from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from abstain._cached_property import cached_property
from abstain._kernels.features import at_ranks
from abstain.outputs import Outputs
from abstain.scores.head import Head
from abstain.scores.inputs import Inputs
from abstain.scores.logit_scores import ENERGY
from abstain.scores.operations import array_namespace, constant, running_max, sorted_rows, take_along_rows
from abstain.scores.other_head import score_of
from abstain.scores.rows import Array
from abstain.scores.samples import features_of
from abstain.scores.score import About, FittedScore, PlainScore, Score

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True)
class RAS(Score):
    """Ranked activation shift: a logit score after the j-th smallest feature got the mean j-th smallest of the sample.

    What is left of a sample is the order of its features. Equal features share the mean of their ranks, so that nothing
    depends on the order in which they are stored.

    Parameters
    ----------
    score : PlainScore
        The logit score that is taken of the new logits, energy by default.

    References
    ----------
    Guglielmo & Masana, 2026
    """

    score: PlainScore = ENERGY

    about = About(
        name="ras",
        symbol="RAS",
        family="hybrid",
        for_ood=True,
        needs=("features", "head", "fitting"),
        reference="Guglielmo & Masana, 2026",
        summary="A logit score after giving each feature the usual value at its rank.",
    )

    def _fit(self, sample: Outputs, /) -> "FittedRAS":
        """Take the mean of the sorted features, and the head."""
        profile = sorted_rows(features_of(sample)).mean(axis=0, dtype=np.float64)
        head = Head.of(sample)
        return FittedRAS(profile, head.rows, head.bias, self.score)


@final
@dataclass(frozen=True, eq=False)
class FittedRAS(FittedScore):
    """RAS with its profile (d,), ascending, and the head."""

    profile: Annotated[Floats, "features"]
    weight: Annotated[Floats, "classes", "features"]
    bias: Annotated[Floats, "classes"]
    score: PlainScore

    @cached_property
    def _head(self) -> Head:
        return Head(self.weight, self.bias)

    @cached_property
    def _sums(self) -> Floats:
        """(d + 1,) the sums of the lowest ranks."""
        return np.concatenate([[0.0], np.cumsum(self.profile)])

    def formula(self, inputs: Inputs, /) -> Array:
        """The score of the logits of the shifted features."""
        in_numpy = isinstance(inputs.features, np.ndarray)
        shifted = (at_ranks if in_numpy else _at_ranks)(inputs.features, inputs.sorted_features, self._sums)
        return score_of(self.score, shifted, self._head)


def _at_ranks(features: Array, ordered: Array, sums: Floats) -> Array:
    """What the kernel of this name does, by the operations of any library."""
    xp = array_namespace(features)
    d = len(sums) - 1
    ranks = xp.arange(d, device=device(features))[None, :]
    edge = ordered[:, :1] == ordered[:, :1]
    rises = ordered[:, 1:] > ordered[:, :-1]
    first = running_max(xp.where(xp.concat([edge, rises], axis=1), ranks, 0), d)
    ends = xp.where(xp.concat([rises, edge], axis=1), d - 1 - ranks, 0)
    after = d - xp.flip(running_max(xp.flip(ends, axis=1), d), axis=1)
    means = (_at(sums, after, d) - _at(sums, first, d)) / xp.astype(after - first, xp.float64)
    return take_along_rows(means, xp.argsort(xp.argsort(features, axis=1), axis=1), d)


def _at(values: Floats, ranks: Array, d: int) -> Any:
    """The values (m,) at ranks (n, d)."""
    xp = array_namespace(ranks)
    flat = xp.take(constant(values, ranks), xp.reshape(ranks, (-1,)), axis=0)
    return xp.reshape(flat, (-1, d))

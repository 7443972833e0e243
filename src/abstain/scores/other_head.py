"""Logit scores of another head, or of other features under it: DICE, PCA and RAS."""

from dataclasses import dataclass
from typing import Annotated, Any, Self, final

import numpy as np
from array_api_compat import device

from abstain._arguments import check_share
from abstain._arrays import Floats
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain._kernels.features import at_ranks
from abstain.outputs import Outputs
from abstain.scores.covariance import principal_axes
from abstain.scores.head import Head
from abstain.scores.inputs import Inputs
from abstain.scores.logit_scores import ENERGY
from abstain.scores.operations import (
    Array,
    array_namespace,
    constant,
    is_constant,
    running_max,
    sorted_rows,
    take_along_rows,
)
from abstain.scores.samples import features_of, mean_feature
from abstain.scores.score import About, CannotFitError, FittedScore, PlainScore, Score


def score_of(score: PlainScore, head: Head, features: Array | None, logits: Array | None = None, /) -> Array:
    """A logit score (n,) of features (n, d) and logits (n, K), by default those that the head makes of the features."""
    logits = head.logits(features) if logits is None else logits
    return score.formula(Inputs(logits, features, head if score.uses_head else None))


@final
@dataclass(frozen=True, eq=False)
class FittedOtherHead(FittedScore):
    """A logit score of a classifier that has another head, weight (K, d) and bias (K,)."""

    weight: Annotated[Floats, "classes", "features"]
    bias: Annotated[Floats, "classes"]
    score: PlainScore

    @classmethod
    def of(cls, weight: Floats, bias: Floats, score: PlainScore, /) -> Self:
        """The score with this head, for which it must be defined."""
        if flaw := score.flaw(Outputs(logits=np.zeros((1, len(bias))), weight=weight)):
            raise CannotFitError(f"the head that {score.name} would look at has {flaw}")
        return cls(weight, bias, score)

    @cached_property
    def _head(self) -> Head:
        return Head(self.weight, self.bias)

    def formula(self, inputs: Inputs, /) -> Array:
        """The score of the other logits."""
        return self.of_features(inputs.features)

    def of_features(self, features: Array, /) -> Array:
        """The score (n,) of features (n, d)."""
        return score_of(self.score, self._head, features)


@final
@dataclass(frozen=True)
class DICE(Score):
    r"""A logit score of a head without its smallest contributions :math:`w_{kj} \bar x_j`.

    Weights that mostly add noise are left out.

    Parameters
    ----------
    pruned : float
        Share of the weights that are set to zero.
    score : PlainScore
        The logit score that is taken of the new logits, energy by default.

    References
    ----------
    Sun & Li, 2022
    """

    pruned: float = 0.9
    score: PlainScore = ENERGY

    about = About(
        name="dice",
        symbol="DICE",
        family="hybrid",
        for_ood=True,
        needs=("features", "head", "fitting"),
        reference="Sun & Li, 2022",
        summary="A logit score of a head that keeps its largest contributions alone.",
    )

    def __post_init__(self) -> None:
        if not 0 <= self.pruned < 1:
            raise InvalidInputError(f"`pruned` must be at least 0 and below 1, got {self.pruned}.")

    def _fit(self, sample: Outputs, /) -> FittedOtherHead:
        """Find the contributions."""
        head = Head.of(sample)
        contributions = head.rows * mean_feature(sample)[None, :]
        kept = contributions > np.quantile(contributions, self.pruned)
        if not kept.any():
            raise CannotFitError("the largest contributions to the logits of the fitting sample are all the same")
        return FittedOtherHead.of(np.where(kept, head.rows, 0.0), head.bias, self.score)


@final
@dataclass(frozen=True)
class PCA(Score):
    r"""A logit score of :math:`\mu + V V^\top (x - \mu)`, V the principal axes with most of the variance.

    What a sample has in directions in which the fitting sample hardly varies does not count. As the head is linear, it
    is projected once instead of every sample, and scores of distances measure them along the axes.

    Parameters
    ----------
    variance : float
        Share of the variance that the fewest axes must have.
    score : PlainScore
        The logit score that is taken of the new logits, energy by default.

    References
    ----------
    Claros-Olivares & Brockmeier, 2025
    """

    variance: float = 0.9
    score: PlainScore = ENERGY

    about = About(
        name="pca",
        symbol="PCA",
        family="hybrid",
        for_ood=True,
        needs=("features", "head", "fitting"),
        reference="Claros-Olivares & Brockmeier, 2025",
        summary="A logit score of the part of the features that varies in the fitting sample.",
    )

    def __post_init__(self) -> None:
        check_share("variance", self.variance)

    def _fit(self, sample: Outputs, /) -> FittedOtherHead:
        """Project the head."""
        head, mean = Head.of(sample), mean_feature(sample)
        if is_constant(features_of(sample)):
            raise CannotFitError("the features of the fitting sample do not vary")
        axes = _fewest_axes(features_of(sample) - mean, self.variance)
        projected = (head.rows @ axes) @ axes.T
        return FittedOtherHead.of(projected, head.bias + (head.rows - projected) @ mean, self.score)


def _fewest_axes(centred: Floats, variance: float) -> Floats:
    """The fewest principal axes (d, m) with this share of the variance."""
    values, axes = principal_axes(centred)
    share = np.cumsum(values) / values.sum()
    m = min(int(np.searchsorted(share, variance)) + 1, int(np.count_nonzero(values > 1e-12 * values[0])))
    return axes[:m].T


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
        return FittedRAS(profile, FittedOtherHead.of(head.rows, head.bias, self.score))


@final
@dataclass(frozen=True, eq=False)
class FittedRAS(FittedScore):
    """RAS with its profile, ascending, and the score of what the head makes of shifted features."""

    profile: Annotated[Floats, "features"]
    scored: FittedOtherHead

    @cached_property
    def _sums(self) -> Floats:
        """(d + 1,) the sums of the lowest ranks."""
        return np.concatenate([[0.0], np.cumsum(self.profile)])

    def formula(self, inputs: Inputs, /) -> Array:
        """The score of the logits of the shifted features."""
        in_numpy = isinstance(inputs.features, np.ndarray)
        shifted = (at_ranks if in_numpy else _at_ranks)(inputs.features, inputs.sorted_features, self._sums)
        return self.scored.of_features(shifted)


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

"""Logit scores of another head: DICE and PCA."""

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import check_share
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain.outputs import Outputs
from abstain.scores.covariance import principal_axes
from abstain.scores.head import Head
from abstain.scores.inputs import Inputs
from abstain.scores.logit_scores import ENERGY
from abstain.scores.operations import is_constant
from abstain.scores.rows import Array
from abstain.scores.samples import features_of, mean_feature
from abstain.scores.score import About, CannotFitError, FittedScore, PlainScore, Score

Floats = NDArray[np.float64]


def score_of(score: PlainScore, features: Array, head: Head, /) -> Array:
    """A logit score (n,) of what the head makes of features (n, d)."""
    return score.formula(Inputs(head.logits(features), features, head if score.uses_head else None))


@final
@dataclass(frozen=True, eq=False)
class FittedOtherHead(FittedScore):
    """A logit score of a classifier that has another head, weight (K, d) and bias (K,)."""

    weight: Annotated[Floats, "classes", "features"]
    bias: Annotated[Floats, "classes"]
    score: PlainScore

    @classmethod
    def of(cls, weight: Floats, bias: Floats, score: PlainScore, /) -> "FittedOtherHead":
        """The score with this head, for which it must be defined."""
        if flaw := score.flaw(Outputs(logits=np.zeros((1, len(bias))), weight=weight)):
            raise CannotFitError(f"the head that {score.name} would look at has {flaw}")
        return cls(weight, bias, score)

    @cached_property
    def _head(self) -> Head:
        return Head(self.weight, self.bias)

    def formula(self, inputs: Inputs, /) -> Array:
        """The score of the other logits."""
        return score_of(self.score, inputs.features, self._head)


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

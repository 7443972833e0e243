"""Logit scores of reshaped features: ReAct, ASH and SCALE."""

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import check_share
from abstain._arrays import Floats
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain._kernels.features import class_blocks, less_excess
from abstain.outputs import Outputs
from abstain.scores.head import Head
from abstain.scores.inputs import Inputs
from abstain.scores.logit_scores import ENERGY
from abstain.scores.operations import Array, array_namespace, at_least, at_most, constant, double, products, quantile
from abstain.scores.other_head import score_of
from abstain.scores.samples import features_of
from abstain.scores.score import About, FittedScore, PlainScore, Score


@final
@dataclass(frozen=True)
class ReAct(Score):
    """A logit score of min(x, c)·Wᵀ + b, with c a quantile of the features of the fitting sample.

    Unknown classes often excite a few features far beyond the usual; clipping removes that. Computed from the
    classifier's own logits as z − max(x − c, 0)·Wᵀ, since few features are beyond c. The prediction stays that of those
    logits.

    Parameters
    ----------
    quantile : float
        Of all features of the fitting sample, above 0 and at most 1.
    score : PlainScore
        The logit score that is taken of the new logits, energy by default.

    References
    ----------
    Sun et al., 2021
    """

    quantile: float = 0.9
    score: PlainScore = ENERGY

    about = About(
        name="react",
        symbol="ReAct",
        family="hybrid",
        for_ood=True,
        needs=("logits", "features", "head", "fitting"),
        reference="Sun et al., 2021",
        summary="A logit score after clipping features that are excited beyond the usual.",
    )

    def flaw(self, outputs: Outputs, /) -> str | None:
        """That of the score of the logits."""
        return self.score.flaw(outputs)

    def _fit(self, sample: Outputs, /) -> "FittedReAct":
        """Take the quantile and the head."""
        check_share("quantile", self.quantile)
        return FittedReAct(quantile(features_of(sample), self.quantile), Head.of(sample).rows, self.score)


@final
@dataclass(frozen=True, eq=False)
class FittedReAct(FittedScore):
    """ReAct with its clip and the weight of the head."""

    clip: float
    weight: Annotated[Floats, "classes", "features"]
    score: PlainScore

    @cached_property
    def _head(self) -> Head:
        return Head(self.weight)

    @cached_property
    def _lanes(self) -> NDArray[np.floating]:
        return class_blocks(self.weight)

    def formula(self, inputs: Inputs, /) -> Array:
        """The score of the logits of the clipped features."""
        clipped = at_most(inputs.features, self.clip) if "features" in self.score.needs else None
        return score_of(self.score, self._head, clipped, self._logits(inputs))

    def _logits(self, inputs: Inputs) -> Array:
        """Of the clipped features."""
        if isinstance(inputs.features, np.ndarray):
            return less_excess(inputs.logits, inputs.features, self.clip, self._lanes)
        excess = at_least(inputs.features - self.clip, 0.0)
        return inputs.logits - products(excess, self.weight.T)


@final
@dataclass(frozen=True)
class ASH(PlainScore):
    r"""A logit score of :math:`x_j e^{\Sigma x / \Sigma_{top} x}` for the largest features, 0 for the others.

    This is ASH-S. Features that tie with the smallest one kept are kept too. The prediction stays that of the
    classifier's own logits.

    Parameters
    ----------
    pruned : float
        Share of the features of each sample that are not among the top, at most 0.99.
    score : PlainScore
        The logit score that is taken of the new logits, energy by default.

    References
    ----------
    Djurisic et al., 2023
    """

    pruned: float = 0.9
    score: PlainScore = ENERGY

    about = About(
        name="ash",
        symbol="ASH-S",
        family="hybrid",
        for_ood=True,
        needs=("features", "head"),
        reference="Djurisic et al., 2023",
        summary="A logit score after pruning the small features of each sample and scaling up the others.",
    )
    uses_head = True

    def __post_init__(self) -> None:
        check_pruned(self.pruned)

    def formula(self, inputs: Inputs, /) -> Array:
        """The score of the logits of the features that are left."""
        factor, smallest = sharpening(inputs, self.pruned)
        x = double(inputs.features)
        left = array_namespace(x).where(x >= smallest[:, None], x * factor[:, None], 0.0)
        return score_of(self.score, inputs.head, left)


def check_pruned(pruned: float, /) -> None:
    """A share up to 0.99, so that the factor cannot overflow."""
    if not 0 <= pruned <= 0.99:
        raise InvalidInputError(f"`pruned` must be between 0 and 0.99, got {pruned}.")


def sharpening(inputs: Inputs, pruned: float, /) -> tuple[Array, Array]:
    """The factor e^{Σx/Σ_top} (n,) and the smallest of the top features (n,), all but a ``pruned`` share of them.

    The ratio is at most the number of features over that of the top ones as long as Σ_top is above zero. Only features
    that are not rectified can make it otherwise; Σx is then below zero as well, and the factor goes to zero as it does
    where Σ_top comes near zero from above.
    """
    ordered = double(inputs.sorted_features)
    xp = array_namespace(ordered)
    d = inputs.head.weight.shape[1]
    first = min(round(d * pruned), d - 1)
    ratio = xp.sum(ordered, axis=1) / at_least(xp.sum(ordered[:, first:], axis=1), 1e-12)
    return xp.exp(at_least(ratio, -700.0)), ordered[:, first]


@final
@dataclass(frozen=True)
class SCALE(PlainScore):
    r"""A logit score of all features times :math:`e^{\Sigma x / \Sigma_{top} x}`.

    ASH without the pruning. The head is linear, so it is that of f(z − b) + b, with f the factor.

    Parameters
    ----------
    pruned : float
        Share of the features of each sample that are not among the top, at most 0.99.
    score : PlainScore
        The logit score that is taken of the new logits, energy by default.

    References
    ----------
    Xu et al., 2024
    """

    pruned: float = 0.85
    score: PlainScore = ENERGY

    about = About(
        name="scale",
        symbol="SCALE",
        family="hybrid",
        for_ood=True,
        needs=("logits", "features", "head"),
        reference="Xu et al., 2024",
        summary="A logit score after scaling each sample by how little of it is in its largest features.",
    )
    uses_head = True

    def __post_init__(self) -> None:
        check_pruned(self.pruned)

    needs_size = True

    def formula(self, inputs: Inputs, /) -> Array:
        """The score of the scaled logits."""
        factor, _ = sharpening(inputs, self.pruned)
        bias = constant(inputs.head.bias, factor)[None, :]
        logits = factor[:, None] * (double(inputs.logits) - bias) + bias
        return score_of(self.score, inputs.head, None, logits)

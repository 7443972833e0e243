"""Logit scores of reshaped features: ReAct, ASH, SCALE and RAS."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from abstain._arguments import check_share
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain._kernels.features import at_ranks, class_blocks, less_excess
from abstain.outputs import Outputs
from abstain.scores.inputs import Head, Inputs
from abstain.scores.logit_scores import ENERGY
from abstain.scores.operations import (
    array_namespace,
    at_least,
    at_most,
    constant,
    double,
    products,
    quantile,
    running_max,
    sorted_rows,
    take_along_rows,
)
from abstain.scores.other_head import score_of
from abstain.scores.rows import Array
from abstain.scores.samples import features_of, head_of
from abstain.scores.score import About, FittedScore, PlainScore, Score, Sizes

Floats = NDArray[np.float64]


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
        weight, _ = head_of(sample)
        return FittedReAct(quantile(features_of(sample), self.quantile), weight, self.score)


@final
@dataclass(frozen=True, eq=False)
class FittedReAct(FittedScore):
    """ReAct with its clip and the weight of the head."""

    clip: float
    weight: NDArray[np.float64]
    score: PlainScore

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": self.weight.shape[1], "classes": self.weight.shape[0]}

    @cached_property
    def _head(self) -> Head:
        return Head(self.weight)

    @cached_property
    def _lanes(self) -> NDArray[np.floating]:
        return class_blocks(self.weight)

    def formula(self, inputs: Inputs, /) -> Array:
        """The score of the logits of the clipped features."""
        clipped = at_most(inputs.features, self.clip) if "features" in self.score.needs else None
        return self.score.formula(Inputs(self._logits(inputs), clipped, self._head if self.score.uses_head else None))

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
        return score_of(self.score, left, inputs.head)


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
        return self.score.formula(Inputs(logits, None, inputs.head if self.score.uses_head else None))


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
        return FittedRAS(profile, *head_of(sample), self.score)


@final
@dataclass(frozen=True, eq=False)
class FittedRAS(FittedScore):
    """RAS with its profile (d,), ascending, and the head."""

    profile: Floats
    weight: Floats
    bias: Floats
    score: PlainScore

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": self.weight.shape[1], "classes": self.weight.shape[0]}

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

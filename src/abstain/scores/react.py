"""ReAct: a logit score after clipping the features."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.energy import Energy
from abstain.scores.inputs import Head, Inputs
from abstain.scores.operations import at_most, products
from abstain.scores.quantile import quantile
from abstain.scores.rows import Array
from abstain.scores.samples import features_of, head_of
from abstain.scores.score import About, FittedScore, PlainScore, Score, Sizes

ENERGY = Energy()


@final
@dataclass(frozen=True)
class ReAct(Score):
    """A logit score of min(x, c)·Wᵀ + b, with c a quantile of the features of the fitting sample.

    Unknown classes often excite a few features far beyond the usual; clipping takes that away. The prediction stays
    that of the classifier's own logits. (Sun et al., 2021)
    """

    quantile: float = 0.9
    score: PlainScore = ENERGY

    about = About(
        name="react",
        symbol="ReAct",
        family="hybrid",
        needs=("features", "head", "fitting"),
        reference="Sun et al., 2021",
        summary="A logit score after clipping features that are excited beyond the usual.",
    )

    def _fit(self, sample: Outputs, /) -> "FittedReAct":
        """Take the quantile and the head."""
        if not 0 < self.quantile <= 1:
            raise ValueError(f"`quantile` must be above 0 and at most 1, got {self.quantile}.")
        weight, bias = head_of(sample)
        clip = float(quantile(features_of(sample), self.quantile))
        return FittedReAct(clip, weight, bias, self.score)


@final
@dataclass(frozen=True, eq=False)
class FittedReAct(FittedScore):
    """ReAct with its clip and the head."""

    clip: float
    weight: NDArray[np.float64]
    bias: NDArray[np.float64]
    score: PlainScore

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": self.weight.shape[1], "classes": self.weight.shape[0]}

    @cached_property
    def _head(self) -> Head:
        return Head(self.weight)

    @cached_property
    def _columns(self) -> NDArray[np.float64]:
        return np.ascontiguousarray(self.weight.T)

    def formula(self, inputs: Inputs, /) -> Array:
        """The score of the logits of the clipped features."""
        clipped = at_most(inputs.features, self.clip)
        logits = products(clipped, self._columns, self.bias)
        return self.score.formula(Inputs(logits, clipped, self._head if self.score.uses_head else None))

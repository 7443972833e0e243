"""ReAct: a logit score after clipping the features."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.cached_property import cached_property
from abstain.kernels.excess import lanes, less_excess
from abstain.outputs import Outputs
from abstain.scores.inputs import Head, Inputs
from abstain.scores.operations import at_least, at_most, products
from abstain.scores.quantile import quantile
from abstain.scores.reshaped import ENERGY
from abstain.scores.rows import Array
from abstain.scores.samples import features_of, head_of
from abstain.scores.score import About, FittedScore, PlainScore, Score, Sizes


@final
@dataclass(frozen=True)
class ReAct(Score):
    """A logit score of min(x, c)·Wᵀ + b, with c a quantile of the features of the fitting sample.

    Unknown classes often excite a few features far beyond the usual; clipping takes that away. Computed from the
    classifier's own logits as z − max(x − c, 0)·Wᵀ, since few features are beyond c. The prediction stays that of
    those logits. (Sun et al., 2021)
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
        if not 0 < self.quantile <= 1:
            raise ValueError(f"`quantile` must be above 0 and at most 1, got {self.quantile}.")
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
        return lanes(self.weight)

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

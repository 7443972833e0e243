"""A logit score of what a head makes of the features: another head, or other features."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.cached_property import cached_property
from abstain.outputs import Outputs
from abstain.scores.energy import Energy
from abstain.scores.inputs import Head, Inputs
from abstain.scores.rows import Array
from abstain.scores.score import CannotFitError, FittedScore, PlainScore, Sizes

Floats = NDArray[np.float64]
ENERGY = Energy()


def score_of(score: PlainScore, features: Array, head: Head, /) -> Array:
    """A logit score (n,) of what the head makes of features (n, d)."""
    return score.formula(Inputs(head.logits(features), features, head if score.uses_head else None))


@final
@dataclass(frozen=True, eq=False)
class FittedOtherHead(FittedScore):
    """A logit score of a classifier that has another head, weight (K, d) and bias (K,)."""

    weight: Floats
    bias: Floats
    score: PlainScore

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": self.weight.shape[1], "classes": self.weight.shape[0]}

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

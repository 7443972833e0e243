"""DICE: a logit score of a head that keeps its largest contributions."""

from dataclasses import dataclass
from typing import final

import numpy as np

from abstain.outputs import Outputs
from abstain.scores.reshaped import ENERGY, FittedOtherHead
from abstain.scores.samples import head_of, mean_feature
from abstain.scores.score import About, CannotFitError, PlainScore, Score


@final
@dataclass(frozen=True)
class DICE(Score):
    r"""A logit score of a head that is zero for the ``pruned`` share of smallest contributions :math:`w_{kj} \bar x_j`.

    Weights that mostly add noise are left out. (Sun & Li, 2022)
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
            raise ValueError(f"`pruned` must be at least 0 and below 1, got {self.pruned}.")

    def _fit(self, sample: Outputs, /) -> FittedOtherHead:
        """Find the contributions."""
        weight, bias = head_of(sample)
        contributions = weight * mean_feature(sample)[None, :]
        kept = contributions > np.quantile(contributions, self.pruned)
        if not kept.any():
            raise CannotFitError("the largest contributions to the logits of the fitting sample are all the same")
        return FittedOtherHead.of(np.where(kept, weight, 0.0), bias, self.score)

"""A fitted score and the confidence margin together."""

from dataclasses import dataclass
from typing import final

import numpy as np

from abstain._arrays import Floats
from abstain.metrics import aurc
from abstain.metrics.aurc import lowest
from abstain.outputs import Outputs
from abstain.scores.held_out import FOLDS, dealt, out_of_fold
from abstain.scores.inputs import Inputs
from abstain.scores.logit_scores import ConfidenceMargin, confidence_margin
from abstain.scores.operations import Array, at_most
from abstain.scores.rows import CERTAIN
from abstain.scores.samples import right_and_wrong
from abstain.scores.score import About, CannotFitError, FittedScore, Score

SHARES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


@final
@dataclass(frozen=True)
class MarginMix(Score):
    """Standardized base score plus λ times the standardized confidence margin.

    λ has the lowest AURC on the fitting sample. The base score of each fifth of the sample comes from a fit on the
    others, so that neither λ nor means and spreads come from scores that were fitted on the same rows.

    Parameters
    ----------
    base : Score
        The score to mix with the margin.
    shares : tuple of float
        Values of λ to choose from.

    References
    ----------
    Heng & Soh, 2026
    """

    base: Score
    shares: tuple[float, ...] = SHARES
    named_by = ("base",)

    @property
    def about(self) -> About:
        """That of the base score, with the margin."""
        return About(
            name=f"{self.base.name}_margin",
            symbol=f"{self.base.symbol}+conf-M",
            family="hybrid",
            needs=("logits", *self.base.needs),
            reference=self.base.about.reference,
            summary=f"{self.base.name} and the confidence margin together.",
        )

    def _fit(self, sample: Outputs, /) -> "FittedMarginMix":
        """Choose λ out of sample, then fit the base score on all."""
        right, wrong = right_and_wrong(sample)
        fold = dealt(sample, number=FOLDS, kinds=wrong)
        if any(len(np.unique(fold[rows])) < 2 for rows in (right, wrong)):
            raise CannotFitError("the fitting sample has fewer than 2 distinct right or 2 distinct wrong predictions")
        scores = out_of_fold(self.base, sample, fold)
        margins = confidence_margin(sample.logits)
        if not np.isfinite(margins).all():
            raise CannotFitError("the fitting sample has rows with one class left")
        mean, spread = np.array([scores.mean(), margins.mean()]), np.array([scores.std(), margins.std()])
        if not (spread > 0).all():
            raise CannotFitError("a score is constant on the fitting sample")
        base, margin = (scores - mean[0]) / spread[0], (margins - mean[1]) / spread[1]
        areas = [aurc(base + share * margin, sample.errors) for share in self.shares]
        return FittedMarginMix(self.base.fit(sample), mean, spread, self.shares[lowest(areas)])


@final
@dataclass(frozen=True, eq=False)
class FittedMarginMix(FittedScore):
    """The mix with its base score, means and spreads of both parts (2,), and λ."""

    base: FittedScore
    mean: Floats
    spread: Floats
    share: float

    def formula(self, inputs: Inputs, /) -> Array:
        """The sum of the standardized parts."""
        (base_mean, margin_mean), (base_spread, margin_spread) = self.mean.tolist(), self.spread.tolist()
        margin = at_most(ConfidenceMargin().formula(inputs), CERTAIN)
        base = (inputs.confidence(self.base) - base_mean) / base_spread
        return base + self.share * ((margin - margin_mean) / margin_spread)

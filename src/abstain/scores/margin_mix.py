"""A fitted score and the confidence margin together."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.metrics import aurc
from abstain.outputs import Outputs
from abstain.scores.confidence_margin import confidence_margin
from abstain.scores.fitting import CannotFitError, Fitted, Fitter, right_and_wrong

Floats = NDArray[np.float64]
CERTAIN = 1e12  # stands for the infinite margin of a row with one class left
SHARES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


@final
@dataclass(frozen=True)
class MarginMix(Fitter):
    """Standardized base score plus λ times the standardized margin, λ of lowest AURC on the calibration sample.

    The base score of each half of the sample comes from a fit on the other half, so that λ is not chosen on scores
    that have seen their own answers. (Heng & Soh, 2026)
    """

    base: Fitter
    shares: tuple[float, ...] = SHARES

    def _fit(self, calibration: Outputs, /) -> "FittedMarginMix":
        """Choose λ out of sample, then fit the base score on all."""
        scores = _out_of_fold(self.base, calibration)
        margins = confidence_margin(calibration.logits)
        if not np.isfinite(margins).all():
            raise CannotFitError("the calibration sample has rows with one class left")
        mean, spread = np.array([scores.mean(), margins.mean()]), np.array([scores.std(), margins.std()])
        if not (spread > 0).all():
            raise CannotFitError("a score is constant on the calibration sample")
        base, margin = (scores - mean[0]) / spread[0], (margins - mean[1]) / spread[1]
        share = min(self.shares, key=lambda share: aurc(base + share * margin, calibration.errors))
        return FittedMarginMix(self.base.fit(calibration), mean, spread, share)


@final
@dataclass(frozen=True, eq=False)
class FittedMarginMix(Fitted):
    """The mix with its base score, means and spreads of both parts (2,), and λ."""

    base: Fitted
    mean: Floats
    spread: Floats
    share: float

    def expects(self) -> dict[str, int]:
        """What the calibration sample had."""
        return self.base.expects()

    def _score(self, outputs: Outputs, /) -> Floats:
        """The sum of the standardized parts."""
        base = (self.base(outputs) - self.mean[0]) / self.spread[0]
        margin = (np.minimum(confidence_margin(outputs.logits), CERTAIN) - self.mean[1]) / self.spread[1]
        return base + self.share * margin

    def portable(self, logits: Any, features: Any, head: Any, /) -> Any:
        """The same on arrays of any library."""
        xp = array_namespace(logits)
        base = (self.base.portable(logits, features, head) - float(self.mean[0])) / float(self.spread[0])
        margin = confidence_margin(logits)
        margin = xp.where(margin > CERTAIN, CERTAIN, margin)
        return base + self.share * (margin - float(self.mean[1])) / float(self.spread[1])


def _out_of_fold(base: Fitter, calibration: Outputs) -> Floats:
    """Scores of each half by a fit on the other; right and wrong rows are dealt out in turn."""
    right, wrong = right_and_wrong(calibration)
    if wrong.sum() < 2 or right.sum() < 2:
        raise CannotFitError("the calibration sample has fewer than 2 right or 2 wrong predictions")
    fold = np.zeros(len(calibration), dtype=bool)
    for kind in (right, wrong):
        fold[np.flatnonzero(kind)[::2]] = True
    scores = np.empty(len(calibration))
    for part in (fold, ~fold):
        scores[part] = base.fit(calibration.select(~part))(calibration.select(part))
    return scores

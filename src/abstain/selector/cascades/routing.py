"""Which stage answers a row, and how far that answer is trusted, on one scale for all stages."""

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from abstain._arrays import Floats, Ints
from abstain._errors import InvalidInputError
from abstain.scores.logistic import FLATTEST, OF_BASE, fit_logistic
from abstain.scores.quantile_map import QuantileMap
from abstain.scores.rows import CERTAIN
from abstain.scores.score import Stored

HALVINGS = 150


@final
@dataclass(frozen=True, eq=False)
class LogOdds(Stored):
    """The log-odds that the answer of a stage is right, as a strictly increasing function of its confidence."""

    quantiles: QuantileMap
    intercept: float
    slope: float

    @classmethod
    def of(cls, confidence: Floats, losses: Floats, /) -> Self:
        """Logistic regression on the normal quantiles of the confidence; it does not matter how this is scaled.

        One right and one wrong answer more are spread over the rows (Platt, 1999), so that few rows do not look free of
        errors.
        """
        quantiles = QuantileMap.of(confidence)
        columns = np.asarray(quantiles(confidence))[:, None]
        wrong, right = losses.sum(), (1.0 - losses).sum()
        targets = losses / (wrong + 2) + (1.0 - losses) * (right + 1) / (right + 2)
        intercept, slope = fit_logistic(columns, targets, ridge=OF_BASE, rising=np.array([True])).tolist()
        return cls(quantiles, intercept, max(slope, FLATTEST))

    def check(self) -> None:
        """Raise an error for numbers that do not rise with confidence."""
        knots, values = self.quantiles.knots, self.quantiles.quantiles
        rises = knots.ndim == 1 and knots.shape == values.shape and knots.size > 0
        rises = rises and bool((np.diff(knots) > 0).all() and (np.diff(values) > 0).all())
        if not rises or not self.slope > 0:
            raise InvalidInputError("log-odds that do not rise with confidence")

    def __call__(self, confidence: Floats, /) -> Floats:
        """(n,) NaN where the confidence is."""
        return np.asarray(self.intercept + self.slope * np.asarray(self.quantiles(confidence)))


@final
@dataclass(frozen=True, eq=False)
class Routing:
    """The stage of each row, the first whose confidence is above its threshold or else the last, and its log-odds.

    It is fixed before the rows that certify are looked at. Then every row has one answer, one error and one confidence,
    and all stages together are one classifier.
    """

    thresholds: tuple[float, ...]
    """Of all stages; the last has −inf."""
    odds: tuple[LogOdds, ...]

    def stages(self, confidence: Floats, /) -> Ints:
        """(n,) the stage of each row, by the confidence (n, K) of every stage; NaN is above nothing."""
        above = confidence > np.array(self.thresholds)
        above[:, -1] = True
        return np.argmax(above, axis=1)

    def confidence(self, confidence: Floats, /) -> Floats:
        """(n,) the log-odds of each row's own stage, NaN where its confidence is."""
        stages, odds = self.stages(confidence), np.full(len(confidence), np.nan)
        for stage, each in enumerate(self.odds):
            here = stages == stage
            if here.any():
                odds[here] = each(confidence[here, stage])
        return odds

    def least(self, stage: int, log_odds: float, /) -> float:
        """The confidence that a stage answers above, where answers of at most these log-odds are rejected."""
        odds, low = self.odds[stage], self.thresholds[stage]
        inside = odds(np.array([max(low, -np.finfo(float).max), np.finfo(float).max]))
        if log_odds <= inside[0]:
            return low
        if log_odds >= inside[1]:
            return np.inf
        return _crossing(odds, log_odds)


def _crossing(odds: LogOdds, log_odds: float) -> float:
    """The confidence at which the odds pass a value, by halving; for people to read, not to decide by."""
    low, high = -CERTAIN, CERTAIN  # beyond which the odds are constant
    for _ in range(HALVINGS):
        middle = low + (high - low) / 2
        low, high = (low, middle) if float(odds(np.array([middle]))[0]) > log_odds else (middle, high)
    return low

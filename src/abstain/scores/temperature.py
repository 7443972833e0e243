"""Temperature scaling: a softmax score of the logits divided by the temperature that fits the labels best."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log
from typing import final

import numpy as np

from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.logit_scores import SumsScore
from abstain.scores.operations import Array, softplus
from abstain.scores.rows import logit_rows
from abstain.scores.samples import known_labels, once_per_sample
from abstain.scores.score import About, CannotFitError, FittedScore, Score

RANGE = (0.01, 100.0)
ENOUGH = 1e-7  # of the log of the temperature


@final
@dataclass(frozen=True)
class TemperatureScaled(Score):
    """A softmax score at the temperature of lowest log-loss on the fitting sample, between 0.01 and 100.

    Rows of unknown classes have no log-loss and are left out.

    Parameters
    ----------
    score : SumsScore
        The softmax score to scale.

    References
    ----------
    Guo et al., 2017
    """

    score: SumsScore
    named_by = ("score",)

    @property
    def about(self) -> About:
        """That of the score it scales."""
        return About(
            name=f"ts_{self.score.name}",
            symbol=f"{self.score.symbol}(T)",
            family="softmax",
            needs=("logits", "fitting", "labels"),
            reference="Guo et al., 2017",
            summary=f"{self.score.name} of logits over the temperature that fits the labels best.",
        )

    def literal(self, confidence: Array, /) -> Array:
        """That of the score it scales."""
        return self.score.literal(confidence)

    def _fit(self, sample: Outputs, /) -> "FittedTemperature":
        """Find the temperature."""
        return FittedTemperature(best_temperature(sample), self.score)


@final
@dataclass(frozen=True, eq=False)
class FittedTemperature(FittedScore):
    """A softmax score with its temperature."""

    temperature: float
    score: SumsScore

    def formula(self, inputs: Inputs, /) -> Array:
        """The score of logits / temperature."""
        return self.score.from_sums(inputs.sums(self.temperature))


@once_per_sample
def best_temperature(sample: Outputs, /) -> float:
    """The temperature of lowest mean log-loss."""
    labels = known_labels(sample)
    rows = np.flatnonzero(labels >= 0)
    if not sample.errors[rows].any():
        raise CannotFitError("the fitting sample has no wrong prediction, so the lowest log-loss is at temperature 0")
    logits = sample.logits[rows].astype(np.float64)
    own = logits[np.arange(len(rows)), labels[rows]]

    def slope(log_temperature: float) -> float:
        """Mean logit under the softmax less that of the label: the log-loss, convex in 1/T, falls with T above 0."""
        temperature = exp(log_temperature)
        sums = logit_rows(logits, temperature=temperature)
        rest = np.exp(-softplus(-sums.tail))  # probability of all classes but the first
        return float(np.mean((sums.top - rest * sums.gap) * temperature - own))

    log_best = _crossing(slope, log(1.01 * RANGE[0]), log(0.99 * RANGE[1]))
    if log_best is None:
        raise CannotFitError(f"no temperature between {RANGE[0]} and {RANGE[1]:g} fits the fitting sample best")
    return exp(log_best)


def _crossing(slope: Callable[[float], float], low: float, high: float) -> float | None:
    """Where a slope falls through 0 between two points on either side of 0, or None where it does not.

    False position with the Illinois rule: an end that stays twice counts half. (SciPy takes longer to import.)
    """
    ends, last, point, before = [(low, slope(low)), (high, slope(high))], -1, 0.0, high
    if not ends[0][1] > 0 > ends[1][1]:
        return None
    while abs(point - before) > ENOUGH:
        here = slope(point)
        side = 0 if here > 0 else 1
        ends[side] = (point, here)
        if side == last:
            ends[1 - side] = (ends[1 - side][0], ends[1 - side][1] / 2)
        last, before = side, point
        (left, above), (right, below) = ends
        point = (left * below - right * above) / (below - above)
    return point

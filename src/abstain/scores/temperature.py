"""Temperature scaling: a softmax score of the logits divided by the temperature that fits the labels best."""

from dataclasses import dataclass
from math import exp, log
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.fitting import CannotFitError, Fitted, Fitter
from abstain.scores.rows import logit_rows
from abstain.scores.score import LogitScore

RANGE = (0.01, 100.0)


@final
@dataclass(frozen=True)
class TemperatureScaled(Fitter):
    """A softmax score at the temperature of lowest log-loss on the calibration sample, between 0.01 and 100.

    Rows of unknown classes have no log-loss and are passed over. (Guo et al., 2017)
    """

    score: LogitScore

    def _fit(self, calibration: Outputs, /) -> "FittedTemperature":
        """Find the temperature."""
        return FittedTemperature(best_temperature(calibration), self.score)


@final
@dataclass(frozen=True, eq=False)
class FittedTemperature(Fitted):
    """A softmax score with its temperature."""

    temperature: float
    score: LogitScore

    def expects(self) -> dict[str, int]:
        """What the calibration sample had."""
        return {}

    def _score(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """The score of logits / temperature."""
        return np.asarray(self.score.formula(logit_rows(outputs.logits, temperature=self.temperature)))

    def portable(self, logits: Any, _: Any, __: Any, /) -> Any:
        """The same on arrays of any library."""
        return self.score.formula(logit_rows(logits, temperature=self.temperature))


def best_temperature(calibration: Outputs, /) -> float:
    """The temperature of lowest mean log-loss."""
    from scipy.optimize import minimize_scalar

    labels = calibration.labels
    if labels is None or not (labels >= 0).any():
        raise CannotFitError("the calibration sample has no labelled rows of known classes")
    rows = np.flatnonzero(labels >= 0)
    if not calibration.errors[rows].any():
        raise CannotFitError(
            "the calibration sample has no wrong prediction, so the lowest log-loss is at temperature 0"
        )
    logits = calibration.logits[rows].astype(np.float64)
    own = logits[np.arange(len(rows)), labels[rows]]

    def log_loss(log_temperature: float) -> float:
        temperature = exp(log_temperature)
        sums = logit_rows(logits, temperature=temperature)
        return float(np.mean(sums.top + np.logaddexp(0, sums.tail) - own / temperature))

    found = minimize_scalar(log_loss, bounds=(log(RANGE[0]), log(RANGE[1])), method="bounded", options={"xatol": 1e-6})
    if not np.isfinite(found.fun) or not 1.01 * RANGE[0] < exp(found.x) < 0.99 * RANGE[1]:
        raise CannotFitError(f"no temperature between {RANGE[0]} and {RANGE[1]:g} fits the calibration sample best")
    return exp(found.x)

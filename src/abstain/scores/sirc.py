"""SIRC: softmax confidence pulled down where a second score looks unfamiliar."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.arrays import softplus
from abstain.scores.fitting import CannotFitError, Fitted, Fitter
from abstain.scores.max_softmax import max_softmax
from abstain.scores.residual import Residual

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True)
class SIRC(Fitter):
    r"""Softmax Information Retaining Combination, :math:`-\log(1 - p_{\max}) - \sum_i \log(1 + e^{-b_i(s_i - a_i)})`.

    It ranks as the paper's :math:`-(1 - p_{\max})(1 + e^{-b(s - a)})`: softmax decides among familiar samples, and the
    secondary scores s pull down those more than three standard deviations below the calibration sample:
    a = mean − 3·sd, b = 1/sd. (Xia & Bouganis, 2022)
    """

    secondaries: tuple[Fitter, ...] = (Residual(),)

    def _fit(self, calibration: Outputs, /) -> "FittedSIRC":
        """Fit the secondary scores and take their mean and spread."""
        fitted = tuple(secondary.fit(calibration) for secondary in self.secondaries)
        values = [secondary(calibration) for secondary in fitted]
        spread = np.array([np.std(value) for value in values])
        mean = np.array([np.mean(value) for value in values])
        if (spread <= 1e-12 * (1 + np.abs(mean))).any():
            raise CannotFitError("a secondary score is constant on the calibration sample")
        return FittedSIRC(fitted, mean - 3 * spread, 1 / spread)


@final
@dataclass(frozen=True, eq=False)
class FittedSIRC(Fitted):
    """SIRC with its secondary scores and their constants a and b."""

    secondaries: tuple[Fitted, ...]
    a: Floats
    b: Floats

    def expects(self) -> dict[str, int]:
        """What the calibration sample had."""
        return {what: size for secondary in self.secondaries for what, size in secondary.expects().items()}

    def _score(self, outputs: Outputs, /) -> Floats:
        """The combination in the log domain, which never overflows."""
        values = np.stack([secondary(outputs) for secondary in self.secondaries])
        return combine(max_softmax(outputs.logits), values, self.a, self.b)

    def portable(self, logits: Any, features: Any, head: Any, /) -> Any:
        """The same on arrays of any library."""
        found = softplus(max_softmax(logits))
        for secondary, a, b in zip(self.secondaries, self.a.tolist(), self.b.tolist(), strict=True):
            found = found - softplus(-b * (secondary.portable(logits, features, head) - a))
        return found


def combine(log_odds: Floats, secondaries: Floats, a: Floats, b: Floats, /) -> Floats:
    """softplus(log-odds of p_max) − Σ softplus(−b(s − a))."""
    return np.logaddexp(0, log_odds) - np.logaddexp(0, -b[:, None] * (secondaries - a[:, None])).sum(axis=0)

"""A threshold and what it promises."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


class NoSafeThresholdError(ValueError):
    """No threshold can be certified on this calibration sample; the message says what would help."""


@dataclass(frozen=True)
class Threshold:
    """Accept iff confidence > ``value``, with the calibration counts it rests on and the guarantee in words."""

    value: float
    """γ; +inf accepts nothing."""
    method: str
    target: float
    """The risk, coverage or rate asked for; for costs, the mean cost of rejecting all."""
    delta: float | None
    """The probability that the promise fails, over the draw of the calibration sample; None: in expectation."""
    n: int
    """Calibration samples that the guarantee rests on."""
    accepted: int
    """Those of them above γ."""
    errors: float
    """The total loss among these."""
    bound: float
    """What is certified: an upper bound on the risk, or a lower bound on the coverage."""
    guarantee: str

    def accepts(self, confidence: ArrayLike, /) -> NDArray[np.bool_]:
        """Which samples are accepted; NaN never is."""
        return np.asarray(confidence, dtype=np.float64) > self.value

    def __str__(self) -> str:
        return f"accept iff confidence > {self.value:.6g} ({self.method}): {self.guarantee}"

"""CBPE, confidence-based performance estimation: a calibrated chance of being wrong, averaged over the new rows."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from abstain.monitor.estimates.case import ShiftCase
from abstain.monitor.estimates.method import RiskMethod

Floats = NDArray[np.float64]
CERTAIN = 1e300  # stands for an infinite confidence


def cbpe(case: ShiftCase, /) -> float:
    """The mean chance of being wrong of the new rows, by isotonic regression on the reference rows."""
    return float(calibrated(case.confidence, case.losses, None, case.new_confidence).mean())


def calibrated(confidence: Floats, losses: Floats, weights: Floats | None, new: Floats, /) -> Floats:
    """(m,) the mean loss at each new confidence: falling in confidence, linear between the reference rows' values."""
    values, number = np.unique(confidence, return_inverse=True)
    mass = np.bincount(number, weights=weights)
    mean = np.bincount(number, weights=losses if weights is None else losses * weights) / np.maximum(mass, 1e-300)
    fitted = isotonic_regression(mean, weights=np.maximum(mass, 1e-300), increasing=False).x
    return np.interp(np.clip(new, -CERTAIN, CERTAIN), np.clip(values, -CERTAIN, CERTAIN), fitted)


CBPE = RiskMethod(
    name="cbpe",
    title="calibrated confidence",
    assumption="at the same confidence as many rows are wrong after the shift as before",
    reference="Confidence-based performance estimation, NannyML; isotonic regression of the selector's own score",
    estimate=cbpe,
)

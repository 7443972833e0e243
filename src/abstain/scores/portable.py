"""Any score on arrays of any library: what `abstain.torch` runs on a device and `abstain.onnx` puts in a graph."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.scores.arrays import constant, double
from abstain.scores.expected_cost import FittedExpectedCost
from abstain.scores.fitting import Fitted
from abstain.scores.head import Head
from abstain.scores.rows import logit_rows
from abstain.scores.score import Confidence, LogitScore, PlainScore

Array = Any


def decide(fitted: Confidence, logits: Array, features: Array | None, head: Head | None, /) -> tuple[Array, Array]:
    """Prediction (n,) and confidence (n,) in float64, −1 and NaN where a row has a value that is not usable.

    The numbers are those of the NumPy scores but for the last digits.
    """
    if not isinstance(fitted, LogitScore | PlainScore | Fitted):
        raise TypeError(f"`fitted` must be a score of abstain, got {type(fitted).__name__}.")
    xp = array_namespace(logits)
    z = double(logits)
    x = None if features is None else double(features)
    rows = logit_rows(z)
    usable = ~xp.isnan(rows.top)
    if x is not None:
        usable = usable & xp.all(xp.isfinite(x), axis=1)
    prediction = rows.prediction
    if isinstance(fitted, FittedExpectedCost):
        prediction = fitted.portable_predictions(z)
    return xp.where(usable, prediction, -1), xp.where(usable, fitted.portable(z, x, head), xp.nan)


def above(values: float | NDArray[np.float64], prediction: Array, confidence: Array, /) -> Array:
    """Whether each confidence is above the threshold, or above that of its prediction where each class has its own."""
    if isinstance(values, float):
        return confidence > values
    xp = array_namespace(confidence)
    known = xp.where(prediction < 0, xp.zeros_like(prediction), prediction)
    return confidence > xp.take(constant(values, confidence), known, axis=0)

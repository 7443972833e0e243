"""Any score on arrays of any library: what `abstain.torch` runs on a device and `abstain.onnx` puts in a graph."""

import numpy as np
from numpy.typing import NDArray

from abstain.scores.inputs import Head, Inputs
from abstain.scores.namespace import array_namespace
from abstain.scores.operations import constant, double
from abstain.scores.rows import Array
from abstain.scores.score import FittedScore


def decide(fitted: FittedScore, logits: Array, features: Array | None, head: Head | None, /) -> tuple[Array, Array]:
    """Prediction (n,) and confidence (n,) in float64, −1 and NaN where a row has a value that is not usable.

    The numbers are those of the NumPy scores but for the last digits.
    """
    xp = array_namespace(logits)
    x = None if features is None else double(features)
    inputs = Inputs(double(logits), x, head if fitted.uses_head else None)
    usable = ~xp.isnan(inputs.sums().top)
    if x is not None:
        usable = usable & xp.all(xp.isfinite(x), axis=1)
    return xp.where(usable, fitted.predictions(inputs), -1), xp.where(usable, fitted.formula(inputs), xp.nan)


def above(values: float | NDArray[np.float64], prediction: Array, confidence: Array, /) -> Array:
    """Whether each confidence is above the threshold, or above that of its prediction where each class has its own."""
    if isinstance(values, float):
        return confidence > values
    xp = array_namespace(confidence)
    known = xp.where(prediction < 0, xp.zeros_like(prediction), prediction)
    return confidence > xp.take(constant(values, confidence), known, axis=0)

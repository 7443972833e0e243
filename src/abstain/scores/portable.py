"""Any score on arrays of any library: what `abstain.torch` runs on a device and `abstain.onnx` puts in a graph."""

from typing import Any

from array_api_compat import array_namespace

from abstain.scores.arrays import double
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

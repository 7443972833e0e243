"""Many scores of the same outputs, block by block, and one score on arrays of any library."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain._kernels.blocks import BLOCK_ELEMENTS, BLOCK_ROWS, in_threads
from abstain.outputs import Outputs
from abstain.scores.head import Head
from abstain.scores.inputs import Inputs
from abstain.scores.operations import Array, array_namespace, constant, double

if TYPE_CHECKING:
    from abstain.scores.score import FittedScore

Rows = slice | NDArray[np.int64]
ELEMENTS = 2 * BLOCK_ELEMENTS  # of a block: enough for every thread and for a matrix product


def confidences(outputs: Outputs, fitted: "Mapping[str, FittedScore]", /) -> dict[str, Floats]:
    """Confidence of many fitted scores, computed block by block so that each block is read once for all of them.

    Parameters
    ----------
    outputs : Outputs
        The rows.
    fitted : mapping of str to FittedScore
        By the name of the score.

    Returns
    -------
    dict of str to array (n,)
        Confidence by name, NaN where a row is non-finite.
    """
    for score in fitted.values():
        _check_sizes(outputs, score)
    values = {name: np.full(len(outputs), np.nan) for name in fitted}
    head = Head.of(outputs) if any(score.uses_head for score in fitted.values()) else None
    predicted, unknown = np.full(len(outputs), -1, dtype=np.int64), []

    def work(rows: Rows) -> None:
        inputs = Inputs.of(outputs, rows, head)
        for name, score in fitted.items():
            values[name][rows] = inputs.confidence(score)
        if inputs.knows_predictions:
            predicted[rows] = inputs.predictions
        else:
            unknown.append(rows)

    if outputs.source("features") is None and all(score.is_formula for score in fitted.values()):
        in_threads(work, list(_usable_rows(outputs, BLOCK_ELEMENTS)), BLOCK_ELEMENTS)
    else:  # products use every core themselves, and functions may not be made for threads
        for rows in _usable_rows(outputs, ELEMENTS):
            work(rows)
    if not unknown:
        outputs.remember_predictions(predicted)
    return values


def predictions(outputs: Outputs, fitted: "FittedScore", /) -> NDArray[np.int64]:
    """The answer (n,) that the score judges, −1 where a row is non-finite."""
    if not fitted.changes_predictions:
        return outputs.predictions
    answers = np.full(len(outputs), -1, dtype=np.int64)
    for rows, inputs in usable_blocks(outputs, with_head=fitted.uses_head):
        answers[rows] = fitted.predictions(inputs)
    return answers


def outcomes(outputs: Outputs, fitted: "FittedScore", /) -> NDArray[Any]:
    """Whether the answer (n,) that the score judges is wrong, or its loss; always, or 1, for a non-finite row."""
    if outputs.labels is None or not fitted.changes_predictions:
        return outputs.outcomes
    return np.asarray(predictions(outputs, fitted) != outputs.labels) | ~outputs.usable


def usable_blocks(outputs: Outputs, /, *, with_head: bool) -> Iterator[tuple[Rows, Inputs]]:
    """The finite rows, block by block, as inputs of formulas."""
    head = Head.of(outputs) if with_head else None
    for rows in _usable_rows(outputs, ELEMENTS):
        yield rows, Inputs.of(outputs, rows, head)


def _usable_rows(outputs: Outputs, elements: int) -> Iterator[Rows]:
    """The finite rows, in blocks of about this number of elements."""
    features = outputs.source("features")
    columns = outputs.n_classes + (0 if features is None else features.shape[1])
    step = max(1, elements // max(1, columns))
    if features is not None:
        step = min(step, BLOCK_ROWS)
    for start in range(0, len(outputs), step):
        usable = outputs.usable[start : start + step]
        if usable.all():
            yield slice(start, start + len(usable))
        elif usable.any():
            yield start + np.flatnonzero(usable)


def _check_sizes(outputs: Outputs, score: "FittedScore") -> None:
    features = outputs.source("features")
    have = {"features": None if features is None else features.shape[1], "classes": outputs.n_classes}
    for what, size in score.expects().items():
        if have[what] not in (None, size):
            raise InvalidInputError(f"`outputs` must have {size} {what}, as the fitting sample had, got {have[what]}.")


def decide(fitted: "FittedScore", logits: Array, features: Array | None, head: Head | None, /) -> tuple[Array, Array]:
    """Prediction (n,) and confidence (n,) in float64, −1 and NaN where a row is non-finite.

    The numbers are those of the NumPy scores but for the last digits.
    """
    xp = array_namespace(logits)
    x = None if features is None else double(features)
    inputs = Inputs(double(logits), x, head if fitted.uses_head else None)
    usable = ~xp.isnan(inputs.sums().top)
    if x is not None:
        usable = usable & xp.all(xp.isfinite(x), axis=1)
    return xp.where(usable, fitted.predictions(inputs), -1), xp.where(usable, fitted.formula(inputs), xp.nan)


def above(values: float | Floats, prediction: Array, confidence: Array, /) -> Array:
    """Whether each confidence is above the threshold, or above that of its prediction where each class has its own."""
    if isinstance(values, float):
        return confidence > values
    xp = array_namespace(confidence)
    known = xp.where(prediction < 0, xp.zeros_like(prediction), prediction)
    return confidence > xp.take(constant(values, confidence), known, axis=0)

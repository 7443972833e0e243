"""Many scores of the same outputs, block by block, each block read once for all of them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.blocks import BLOCK_ELEMENTS, BLOCK_ROWS
from abstain.kernels.threads import in_threads
from abstain.outputs import Outputs
from abstain.scores.inputs import Head, Inputs

if TYPE_CHECKING:
    from abstain.scores.score import FittedScore

Rows = slice | NDArray[np.int64]
ELEMENTS = 2 * BLOCK_ELEMENTS  # of a block: enough for every thread and for a matrix product


def confidences(outputs: Outputs, fitted: "Mapping[str, FittedScore]", /) -> dict[str, NDArray[np.float64]]:
    """Confidence (n,) by the name of the fitted score, NaN where a row is not usable."""
    for score in fitted.values():
        _check_sizes(outputs, score)
    found = {name: np.full(len(outputs), np.nan) for name in fitted}
    head = _head(outputs, any(score.uses_head for score in fitted.values()))
    predicted, unknown = np.full(len(outputs), -1, dtype=np.int64), []

    def work(rows: Rows) -> None:
        inputs = Inputs.of(outputs, rows, head)
        for name, score in fitted.items():
            found[name][rows] = inputs.confidence(score)
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
    return found


def predictions(outputs: Outputs, fitted: "FittedScore", /) -> NDArray[np.int64]:
    """The answer (n,) that the score judges, −1 where a row is not usable."""
    if not fitted.changes_predictions:
        return outputs.predictions
    found = np.full(len(outputs), -1, dtype=np.int64)
    for rows, inputs in usable_blocks(outputs, with_head=fitted.uses_head):
        found[rows] = fitted.predictions(inputs)
    return found


def usable_blocks(outputs: Outputs, /, *, with_head: bool) -> Iterator[tuple[Rows, Inputs]]:
    """The usable rows, block by block, as inputs of formulas."""
    head = _head(outputs, with_head)
    for rows in _usable_rows(outputs, ELEMENTS):
        yield rows, Inputs.of(outputs, rows, head)


def _head(outputs: Outputs, with_head: bool) -> Head | None:
    return Head(outputs.weight, outputs.bias) if with_head and outputs.weight is not None else None


def _usable_rows(outputs: Outputs, elements: int) -> Iterator[Rows]:
    """The usable rows in blocks of about so many elements."""
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
            raise ValueError(f"`outputs` must have {size} {what}, as the fitting sample had, got {have[what]}.")

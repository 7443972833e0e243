"""Samples to look at: the most confident mistakes, and those nearest the threshold."""

import numpy as np
from numpy.typing import NDArray

from abstain.evaluation.divisions import KIND_WORDS, UNKNOWN, UNUSABLE, class_name
from abstain.evaluation.page.context import PageContext
from abstain.report.page import Section, TableCell, name, render, shortened, table

SHOWN = 20
LARGE = 0.5  # a graded loss from which on an answer counts as a mistake


def samples(case: PageContext, /) -> Section:
    """Two tables at the point decided for, each row a sample by its id."""
    point, score = case.point, shortened(case.point.score)
    wrong = _first(np.where(point.errors >= LARGE, -point.confidence, np.inf))
    near = _first(np.where(np.isfinite(point.margin), np.abs(point.margin), np.inf))
    near = near[np.argsort(-point.margin[near], kind="stable")]
    confident = f"Wrong answers with the highest {score}: look at them first; some may be wrong labels."
    if case.is_graded:
        confident = f"Answers with a loss of {LARGE:g} or more and the highest {score}: look at them first."
    nearest = f"Samples nearest the threshold of {score}: a small change of the threshold changes their decision."
    has_threshold = len(near) and np.isfinite(case.point.value or 0.0)
    html = render(
        "samples.html",
        wrong=_table(case, wrong, confident) if len(wrong) else "",
        near=_table(case, near, nearest) if has_threshold else "",
        no_threshold=_no_threshold(case),
        graded=case.is_graded,
        has_ids=point.outputs.ids is not None,
    )
    return Section(name="samples", title="Samples to look at", html=html)


def _no_threshold(case: PageContext) -> str:
    """Why no sample is near a threshold."""
    value = case.point.value
    if not case.point.is_decided:
        return "Nothing is decided: there is no threshold to be near to."
    if value is None or np.isfinite(value):
        return "No sample has a finite confidence."
    return f"{'No' if value > 0 else 'Every'} answer is accepted: there is no threshold to be near to."


def _first(keys: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows of the lowest keys, in their order; none of an infinite one. Row numbers decide between ties."""
    some = np.argpartition(keys, min(SHOWN, len(keys) - 1))[: SHOWN + 1] if len(keys) > SHOWN else np.arange(len(keys))
    level = np.max(keys[some])
    some = np.flatnonzero(keys <= level)
    rows = some[np.lexsort((some, keys[some]))][:SHOWN]
    return rows[np.isfinite(keys[rows])]


def _table(case: PageContext, rows: NDArray[np.int64], caption: str) -> str:
    cells = [_cells(case, int(row)) for row in rows]
    return table(list(cells[0]), [list(row.values()) for row in cells], caption=caption, numbers=(1,))


def _cells(case: PageContext, row: int) -> dict[str, TableCell]:
    """The cells of a sample, by the titles of their columns."""
    outputs, point = case.point.outputs, case.point
    number = row if point.indices is None else int(point.indices[row])
    who = f"row {number}" if outputs.ids is None else outputs.ids[row]
    confidence, loss = float(point.confidence[row]), float(point.errors[row])
    key = confidence if np.isfinite(confidence) else -1e308
    cells = {
        "Sample": TableCell(name(who)),
        "Confidence": TableCell(f"{confidence:.6g}".replace("-", "−"), key),
        "Accepted": TableCell(("yes" if point.accepted[row] else "no") if point.is_decided else "–"),
    }
    if point.predictions is not None:
        cells["Predicted"] = _class(case, int(point.predictions[row]), UNUSABLE)
    if outputs.labels is not None and outputs.n_classes:
        cells["True"] = _class(case, int(outputs.labels[row]), UNKNOWN)
    elif case.is_graded:
        cells["Loss"] = TableCell(f"{loss:.4g}", loss)
    else:
        cells["Answer"] = TableCell("wrong" if loss else "right")
    if outputs.domain is not None:
        cells["Group"] = TableCell(name(outputs.domain[row]))
    if np.count_nonzero(np.bincount(case.kinds)) > 1:
        cells["Shift"] = TableCell(KIND_WORDS[str(outputs.shift[row])])
    return cells


def _class(case: PageContext, number: int, negative: str) -> TableCell:
    return TableCell(name(class_name(number, case.point.outputs.class_names, negative=negative)))

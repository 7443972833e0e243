"""Samples to look at: the most confident mistakes, and those nearest the threshold."""

import numpy as np
from numpy.typing import NDArray

from abstain.evaluation.divisions import KIND_WORDS, UNKNOWN, UNUSABLE, class_name
from abstain.evaluation.page.context import PageContext
from abstain.report.page import Section, TableCell, TableColumn, name, render, shortened, table

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


def _answer(case: PageContext, row: int) -> TableCell:
    loss = float(case.point.errors[row])
    return TableCell(f"{loss:.4g}", loss) if case.is_graded else TableCell("wrong" if loss else "right")


def _first(keys: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows of the lowest keys, in their order; none of an infinite one. Row numbers decide between ties."""
    some = np.argpartition(keys, min(SHOWN, len(keys) - 1))[: SHOWN + 1] if len(keys) > SHOWN else np.arange(len(keys))
    level = np.max(keys[some])
    some = np.flatnonzero(keys <= level)
    rows = some[np.lexsort((some, keys[some]))][:SHOWN]
    return rows[np.isfinite(keys[rows])]


def _table(case: PageContext, rows: NDArray[np.int64], caption: str) -> str:
    outputs, point = case.point.outputs, case.point
    columns = [TableColumn("Sample"), TableColumn("Confidence", number=True), TableColumn("Accepted")]
    has_true = outputs.labels is not None and outputs.n_classes > 0
    columns += [TableColumn("Predicted")] if point.predictions is not None else []
    columns += [TableColumn("True")] if has_true else [TableColumn("Loss" if case.is_graded else "Answer")]
    columns += [TableColumn("Group")] if outputs.domain is not None else []
    columns += [TableColumn("Shift")] if np.count_nonzero(np.bincount(case.kinds)) > 1 else []
    return table(columns, [_row(case, int(row), len(columns)) for row in rows], caption=caption)


def _row(case: PageContext, row: int, columns: int) -> list[TableCell]:
    outputs, point, names = case.point.outputs, case.point, case.point.outputs.class_names
    number = row if point.indices is None else int(point.indices[row])
    who = f"row {number}" if outputs.ids is None else outputs.ids[row]
    confidence = float(point.confidence[row])
    cells = [
        TableCell(name(who)),
        TableCell(f"{confidence:.6g}".replace("-", "−"), confidence if np.isfinite(confidence) else -1e308),
        TableCell(("yes" if point.accepted[row] else "no") if point.is_decided else "–"),
    ]
    if point.predictions is not None:
        cells.append(TableCell(name(class_name(int(point.predictions[row]), names, negative=UNUSABLE))))
    if outputs.labels is not None and outputs.n_classes:
        cells.append(TableCell(name(class_name(int(outputs.labels[row]), names, negative=UNKNOWN))))
    else:
        cells.append(_answer(case, row))
    if outputs.domain is not None:
        cells.append(TableCell(name(outputs.domain[row])))
    if len(cells) < columns:
        cells.append(TableCell(KIND_WORDS[str(outputs.shift[row])]))
    return cells

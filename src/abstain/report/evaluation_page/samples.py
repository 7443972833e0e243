"""Samples to look at: the most confident mistakes, and those nearest the threshold."""

import numpy as np
from numpy.typing import NDArray

from abstain.report.divisions import KIND_WORDS, UNKNOWN, UNUSABLE, class_name
from abstain.report.evaluation_page.case import Case
from abstain.report.page import Cell, Column, Section, name, shortened, table

SHOWN = 20
NUMBERED = (
    "The rows have no ids. They are numbered from 0 as they are in the outputs that were given, those that scores were "
    "fitted on counted too; <code>abstain select</code> gives them the same numbers, after a prefix."
)


def samples(case: Case, /) -> Section:
    """Two tables at the point decided for, each row a sample by its id."""
    point, score = case.point, shortened(case.point.score)
    wrong = _first(np.where(point.errors, -point.confidence, np.inf))
    near = _first(np.where(np.isfinite(point.margin), np.abs(point.margin), np.inf))
    near = near[np.argsort(-point.margin[near], kind="stable")]
    confident = f"Wrong answers with the highest {score}: look at them first; some may be wrong labels."
    nearest = f"Samples nearest the threshold of {score}: whether they are accepted hangs by a hair."
    all_alike = "Every answer is accepted" if point.is_decided else "Nothing is decided"
    html = "".join(
        [
            "<h3>The most confident mistakes</h3>",
            _table(case, wrong, confident) if len(wrong) else "<p>There is no wrong answer.</p>",
            "<h3>Nearest the threshold</h3>",
            _table(case, near, nearest)
            if len(near) and np.isfinite(case.point.value or 0.0)
            else f"<p>{all_alike}: there is no threshold to be near to.</p>",
            "" if point.outputs.ids is not None else f'<p class="quiet">{NUMBERED}</p>',
        ]
    )
    return Section(name="samples", title="Samples to look at", html=html)


def _first(keys: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows of the lowest keys, in their order; none of an infinite one. Row numbers decide between ties."""
    some = np.argpartition(keys, min(SHOWN, len(keys) - 1))[: SHOWN + 1] if len(keys) > SHOWN else np.arange(len(keys))
    level = np.max(keys[some])
    some = np.flatnonzero(keys <= level)
    found = some[np.lexsort((some, keys[some]))][:SHOWN]
    return found[np.isfinite(keys[found])]


def _table(case: Case, rows: NDArray[np.int64], caption: str) -> str:
    outputs, point = case.point.outputs, case.point
    columns = [Column("Sample"), Column("Confidence", number=True), Column("Accepted")]
    has_true = outputs.labels is not None and outputs.n_classes > 0
    columns += [Column("Predicted")] if point.predictions is not None else []
    columns += [Column("True")] if has_true else [Column("Answer")]
    columns += [Column("Group")] if outputs.domain is not None else []
    columns += [Column("Shift")] if np.count_nonzero(np.bincount(case.kinds)) > 1 else []
    return table(columns, [_row(case, int(row), len(columns)) for row in rows], caption=caption)


def _row(case: Case, row: int, columns: int) -> list[Cell]:
    outputs, point, names = case.point.outputs, case.point, case.point.outputs.class_names
    number = row if point.places is None else int(point.places[row])
    who = f"row {number}" if outputs.ids is None else outputs.ids[row]
    confidence = float(point.confidence[row])
    cells = [
        Cell(name(who)),
        Cell(f"{confidence:.6g}".replace("-", "−"), confidence if np.isfinite(confidence) else -1e308),
        Cell(("yes" if point.accepted[row] else "no") if point.is_decided else "–"),
    ]
    if point.predictions is not None:
        cells.append(Cell(name(class_name(int(point.predictions[row]), names, negative=UNUSABLE))))
    if outputs.labels is not None and outputs.n_classes:
        cells.append(Cell(name(class_name(int(outputs.labels[row]), names, negative=UNKNOWN))))
    else:
        cells.append(Cell("wrong" if point.errors[row] else "right"))
    if outputs.domain is not None:
        cells.append(Cell(name(outputs.domain[row])))
    if len(cells) < columns:
        cells.append(Cell(KIND_WORDS[str(outputs.shift[row])]))
    return cells

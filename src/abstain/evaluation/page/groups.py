"""The thresholds of a selector that has one for each class or domain, and what each does on these rows."""

import numpy as np
from numpy.typing import NDArray

from abstain.evaluation.divisions import UNUSABLE
from abstain.evaluation.page.context import PageContext
from abstain.report.page import TableCell, name, table

COLUMNS = ("Threshold", "Rows", "Accepted", "Coverage", "Wrong among accepted", "Risk")


def group_thresholds(case: PageContext, /) -> dict[str, str] | None:
    """A sentence and a table; None where all rows have one threshold."""
    selector, outputs = case.point.selector, case.point.outputs
    if selector is None or selector.groups is None:
        return None
    groups = selector.groups
    of_row = selector.group_names(outputs)
    names = {part: UNUSABLE if groups.is_by_class and part == "-1" else part for part in groups.thresholds}
    values = {part: threshold.value for part, threshold in groups.thresholds.items()}
    rows = [[TableCell(name(names[part])), *_cells(case, values[part], of_row == part)] for part in names]
    words = (
        f"The selector has a threshold for each {groups.per}, in this table. Explore moves one common threshold, "
        "which starts at the selector’s coverage."
    )
    caption = f"The selector on these rows, by {'predicted class' if groups.is_by_class else groups.per}"
    columns = [groups.per.capitalize(), *COLUMNS]
    made = table(columns, rows, caption=caption, numbers=range(1, len(columns)), id="group-thresholds")
    return {"words": words, "table": made}


def _cells(case: PageContext, value: float, inside: NDArray[np.bool_]) -> list[TableCell]:
    accepted = inside & case.point.accepted
    n, taken = (int(np.count_nonzero(rows)) for rows in (inside, accepted))
    wrong = case.total(accepted)
    above = {np.inf: "always rejected", -np.inf: "always accepted"}.get(value) or f"{value:.6g}".replace("-", "−")
    return [
        TableCell(above, value if np.isfinite(value) else 1e308),
        TableCell(f"{n:,}"),
        TableCell(f"{taken:,}"),
        TableCell(case.percent(taken / n) if n else "–", taken / n if n else -1.0),
        TableCell(f"{wrong:,.6g}"),
        TableCell(case.outcome(wrong, taken), wrong / taken if taken else -1.0),
    ]

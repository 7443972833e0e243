"""Where it fails: parts of the rows whose risk is significantly above what is guaranteed."""

from dataclasses import dataclass

import numpy as np

from abstain._arrays import Ints
from abstain.evaluation.divisions import Division
from abstain.evaluation.page.context import PageContext
from abstain.metrics.slices import rows_of_parts
from abstain.report.page import Section, TableCell, name, render, table
from abstain.thresholds.refutation import p_above

LEVEL = 0.05
SHOWN = 50


@dataclass(frozen=True)
class RowPart:
    """A part of the rows, with how many of them are accepted, and how many of these are wrong."""

    kind: str
    name: str
    rows: Ints
    accepted: int
    errors: float


def failures(case: PageContext, /) -> Section:
    """Every domain, class and kind of shift is tested, and the p-values are adjusted for their number."""
    guaranteed = case.point.guaranteed_risk
    risk = case.point.risk if guaranteed is None else guaranteed
    what = "the overall risk" if guaranteed is None else "the guaranteed risk"
    parts = [part for division in case.divisions for part in _parts(case, division)]
    tested = zip(_p_above(case, parts, risk), parts, strict=True) if 0 < risk < 1 else ()
    failing = sorted(((p, part) for p, part in tested if p <= LEVEL), key=lambda pair: (pair[0], -pair[1].errors))
    html = render(
        "failures.html",
        tested=len(parts),
        what=what,
        risk=case.outcome(risk, 1),
        graded=case.is_graded,
        failing=_table(case, failing) if failing else "",
        more=len(failing) - SHOWN,
        tests="binomial tests" if case.point.evidence.clusters is None and not case.is_graded else "tests by betting",
        level=f"{100 * LEVEL:g}",
        clustered=case.clusters is not None,
    )
    return Section(name="failures", title="Where it fails", html=html)


def _p_above(case: PageContext, parts: list[RowPart], risk: float) -> list[float]:
    """As `abstain certify` tests its slices."""
    point, evidence = case.point, case.point.evidence
    return p_above(
        [part.rows for part in parts],
        point.errors,
        point.accepted & evidence.rows,
        evidence.clusters,
        limit=risk,
        level=LEVEL,
        largest=evidence.largest,
    )


def _parts(case: PageContext, division: Division) -> list[RowPart]:
    accepted, lost = case.point.accepted, case.point.accepted * case.point.errors
    return [
        RowPart(division.title, part, rows, int(np.count_nonzero(accepted[rows])), float(lost[rows].sum()))
        for part, rows in zip(division.parts, rows_of_parts(division.number, len(division.parts)), strict=True)
    ]


def _table(case: PageContext, failing: list[tuple[float, RowPart]]) -> str:
    columns = ["Part", "Of", "Accepted", "Total loss" if case.is_graded else "Wrong", "Risk", "p, adjusted"]
    caption = "Parts of the rows whose risk among the accepted is significantly too high"
    rows = [
        [
            TableCell(name(part.name)),
            TableCell(part.kind.lower()),
            TableCell(f"{part.accepted:,}"),
            TableCell(f"{part.errors:,.6g}"),
            TableCell(case.outcome(part.errors, part.accepted), part.errors / part.accepted),
            TableCell("< 1e−12" if p < 1e-12 else f"{p:.2g}".replace("-", "−"), p),
        ]
        for p, part in failing[:SHOWN]
    ]
    return table(columns, rows, caption=caption, numbers=range(2, len(columns)))

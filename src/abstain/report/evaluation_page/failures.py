"""Where it fails: parts of the rows whose risk is significantly above what is promised."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.metrics.slices import rows_of_parts
from abstain.report.divisions import Division
from abstain.report.evaluation_page.case import Case
from abstain.report.page import Cell, Column, Section, name, table, text
from abstain.thresholds.parts import p_above

Ints = NDArray[np.int64]
LEVEL = 0.05
SHOWN = 50


@dataclass(frozen=True)
class Part:
    """A part of the rows, with how many of them are accepted, and how many of these are wrong."""

    kind: str
    name: str
    rows: Ints
    accepted: int
    errors: int


def failures(case: Case, /) -> Section:
    """Every domain, class and kind of shift is tested, and the p-values are adjusted for their number."""
    promised = case.point.promised_risk
    risk = case.point.risk if promised is None else promised
    what = "the overall risk" if promised is None else "the promised risk"
    parts = [part for division in case.divisions for part in _parts(case, division)]
    tested = zip(_p_above(case, parts, risk), parts, strict=True) if 0 < risk < 1 else ()
    found = sorted(((p, part) for p, part in tested if p <= LEVEL), key=lambda one: (one[0], -one[1].errors))
    how = f'<p class="quiet">{text(_how(case, len(parts), what, risk))}</p>' if parts else ""
    return Section(name="failures", title="Where it fails", html=_words(case, found, len(parts), what) + how)


def _words(case: Case, found: list[tuple[float, Part]], tested: int, what: str) -> str:
    if not tested:
        return "<p>The rows have no groups or classes to look at one by one.</p>"
    if not found:
        return f'<div class="note"><p>No part of the rows is significantly above {what}.</p></div>'
    more = f"<p>{len(found) - SHOWN} more are not shown.</p>" if len(found) > SHOWN else ""
    return (
        "<p>A promise about all rows together is none about each part of them. In these parts more of what is accepted "
        f"is wrong than {what}; <code>abstain calibrate --per class</code> or <code>--per group</code> sets a "
        f"threshold for each.</p>{_table(case, found)}{more}"
    )


def _how(case: Case, tested: int, what: str, risk: float) -> str:
    rows = (
        "They are exact for independent rows."
        if case.clusters is None
        else "They hold whatever rows that show one sample have in common."
    )
    tests = "binomial tests" if case.point.evidence.clusters is None else "tests by betting"
    return (
        f"{tested} parts were tested against {what} of {case.percent(risk)}: {tests}, one-sided, adjusted for "
        f"their number (Holm), at {100 * LEVEL:g}% for all of them together. {rows}"
    )


def _p_above(case: Case, parts: list[Part], risk: float) -> list[float]:
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


def _parts(case: Case, division: Division) -> list[Part]:
    accepted, wrong = case.point.accepted, case.point.accepted & case.point.errors
    return [
        Part(division.title, part, rows, int(np.count_nonzero(accepted[rows])), int(np.count_nonzero(wrong[rows])))
        for part, rows in zip(division.parts, rows_of_parts(division.number, len(division.parts)), strict=True)
    ]


def _table(case: Case, found: list[tuple[float, Part]]) -> str:
    columns = [
        Column("Part"),
        Column("Of"),
        Column("Accepted", number=True),
        Column("Wrong", number=True),
        Column("Risk", number=True),
        Column("p, adjusted", number=True),
    ]
    rows = [
        [
            Cell(name(part.name)),
            Cell(text(part.kind.lower())),
            Cell(f"{part.accepted:,}"),
            Cell(f"{part.errors:,}"),
            Cell(case.percent(part.errors / part.accepted), part.errors / part.accepted),
            Cell("< 1e−12" if p < 1e-12 else f"{p:.2g}".replace("-", "−"), p),
        ]
        for p, part in found[:SHOWN]
    ]
    return table(columns, rows, caption="Parts of the rows whose risk among the accepted is significantly too high")

"""Where it fails: parts of the rows whose risk is significantly above what is promised."""

from dataclasses import dataclass

import numpy as np

from abstain.report.evaluation_page.case import Case
from abstain.report.evaluation_page.significance import adjusted, p_above
from abstain.report.evaluation_page.slices import Division
from abstain.report.page import Cell, Column, Section, name, table, text

LEVEL = 0.05
SHOWN = 50


@dataclass(frozen=True)
class Part:
    """A part of the rows, and the test of its risk among the accepted."""

    kind: str
    name: str
    accepted: int
    errors: int
    p: float


def failures(case: Case, /) -> Section:
    """Every domain, class and kind of shift is tested, and the p-values are adjusted for their number."""
    promised = case.point.promised_risk
    risk = case.point.risk if promised is None else promised
    what = "the overall risk" if promised is None else "the promised risk"
    parts = [part for division in case.divisions for part in _parts(case, division, risk)]
    p = adjusted([part.p for part in parts])
    order = sorted(range(len(parts)), key=lambda one: (p[one], -parts[one].errors))
    found = [(p[one], parts[one]) for one in order if p[one] <= LEVEL]
    how = f'<p class="quiet">{text(_how(case, len(parts), what, risk))}</p>' if parts else ""
    return Section(name="failures", title="Where it fails", html=_words(case, found, len(parts), what) + how)


def _words(case: Case, found: list[tuple[float, Part]], tested: int, what: str) -> str:
    if not tested:
        return "<p>The rows have no domains or classes to look at one by one.</p>"
    if not found:
        return f'<div class="note"><p>No part of the rows is significantly above {what}.</p></div>'
    more = f"<p>{len(found) - SHOWN} more are not shown.</p>" if len(found) > SHOWN else ""
    return (
        "<p>A promise about all rows together is none about each part of them. In these parts more of what is accepted "
        f"is wrong than {what}; <code>abstain calibrate --per class</code> or <code>--per domain</code> sets a "
        f"threshold for each.</p>{_table(case, found)}{more}"
    )


def _how(case: Case, tested: int, what: str, risk: float) -> str:
    rows = (
        "They are exact for independent rows."
        if case.clusters is None
        else "Rows that show one sample count by what they add to it, which is an approximation."
    )
    return (
        f"{tested} parts were tested against {what} of {case.percent(risk)}: binomial tests, one-sided, adjusted for "
        f"their number (Holm), at {100 * LEVEL:g}% for all of them together. {rows}"
    )


def _parts(case: Case, division: Division, risk: float) -> list[Part]:
    """The parts with accepted rows."""
    point = case.point
    rows = np.flatnonzero(point.accepted)
    number, wrong = division.number[rows], point.errors[rows]
    order = np.argsort(number, kind="stable")
    ends = np.cumsum(np.bincount(number, minlength=len(division.parts)))
    found = []
    for place, chosen in enumerate(np.split(order, ends[:-1])):
        if len(chosen):
            clusters = None if case.clusters is None else case.clusters[rows[chosen]]
            p = p_above(wrong[chosen], clusters, risk)
            found.append(Part(division.title, division.parts[place], len(chosen), int(wrong[chosen].sum()), p))
    return found


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

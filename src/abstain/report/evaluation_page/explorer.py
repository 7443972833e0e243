"""The explorer of operating points: move a threshold, a coverage or a risk, and read exact counts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.evaluation import verdict
from abstain.evaluation.mixes import MIXES
from abstain.evaluation.verdict import BASELINE
from abstain.extras import require
from abstain.jsonable import jsonable
from abstain.metrics.checks import rejected_last
from abstain.report.divisions import KINDS, Division
from abstain.report.evaluation_page.case import Case
from abstain.report.evaluation_page.command import command_parts, line_of
from abstain.report.evaluation_page.controls import mix_select, option, select
from abstain.report.evaluation_page.counts import Counts
from abstain.report.page import Cell, Column, Section, asset, name, shortened, table, text, tiles
from abstain.report.page.chart import chart
from abstain.scores.default import DEFAULT

MOST_SCORES = 3
MOST_PARTS = 200  # of a division; the smallest beyond are one part
COLUMNS = ("Rows", "Accepted", "Rejected", "Coverage", "Wrong among accepted", "Risk")


def explorer(case: Case, /) -> Section:
    """Every number is counted in Python at the thresholds that the page knows; the browser looks it up."""
    parts = [division.largest(MOST_PARTS) for division in case.divisions]
    scores = _scores(case)
    if not all(len(counts.ranks) for counts, _ in scores.values()):
        return Section(name="explorer", title="Explore", html="<p>No threshold accepts a row here.</p>")
    html = (
        f"<p>{_words(case)}</p>{_controls(case, list(scores))}"
        '<div aria-live="polite">' + _tiles() + "</div>"
        '<div class="chart" id="explorer-chart" role="img" aria-label="Risk over coverage, the chosen point marked; '
        'the numbers above tell it"></div>' + _daily() + _tables(parts)
    )
    every = Division("every", "", ("",), np.zeros(case.n, dtype=np.int64))
    data = {
        "kinds": len(KINDS),
        "mixes": {mix: [KINDS.index(kind) for kind in MIXES[mix].kinds] for mix in case.evaluation.mixes},
        "parts": {division.name: len(division.parts) for division in (every, *parts)},
        "digits": case.digits,
        "command": command_parts(case, list(scores)) if case.point.selector is None else None,
        "start": _start(case),
        "scores": [_counted(case, counts, errors, [every, *parts]) for counts, errors in scores.values()],
        "spec": _spec(),
    }
    script = asset(__package__, "explorer.js")
    return Section(name="explorer", title="Explore", html=html, data=data, scripts=(script,), draws=True)


def _scores(case: Case) -> dict[str, tuple[Counts, NDArray[np.bool_]]]:
    """The score decided for, and the others one would think of where they are known of the same rows."""
    evaluation, point = case.evaluation, case.point
    found = {point.score: (Counts.of(point.confidence, chosen=point.offered), point.errors)}
    if point.outputs is not evaluation.outputs:
        return found
    for score in (verdict(evaluation).best, BASELINE, DEFAULT):
        if score in evaluation.confidence and score not in found and len(found) < MOST_SCORES:
            found[score] = (Counts.of(rejected_last(evaluation.confidence[score])), evaluation.errors)
    return found


def _counted(case: Case, counts: Counts, errors: NDArray[np.bool_], parts: list[Division]) -> dict[str, Any]:
    bounds = {
        mix: counts.bounds(mix, case.kinds, errors, delta=case.delta, clusters=case.clusters)
        for mix in case.evaluation.mixes
    }
    return {
        "thresholds": jsonable(counts.thresholds.tolist()),
        "bounds": {mix: [f"{100 * one:.{case.digits}f}" for one in each.tolist()] for mix, each in bounds.items()},
        "counts": {division.name: counts.of_parts(division, case.kinds, errors) for division in parts},
    }


def _start(case: Case) -> dict[str, Any]:
    """Where the page begins: at the threshold decided for, or at its coverage."""
    point = case.point
    return {
        "threshold": jsonable(point.offered),
        "coverage": point.coverage,
        "risk": point.offered_risk,
        "command": line_of(case) if point.selector is None else None,
    }


def _words(case: Case) -> str:
    bound = (
        "It is Clopper and Pearson’s, exact for independent rows"
        if case.clusters is None
        else "Rows that show one sample count by what they add to it (Korn and Graubard), which is an approximation"
    )
    return (
        "Move any of the three; the others follow. Counts are exact at every threshold that the page knows, and it "
        f"goes to the nearest. The upper bound of the risk holds with {100 * (1 - case.delta):g}% confidence at one "
        f"point that was fixed beforehand. {bound}. It is no promise about a point chosen by looking: "
        "<code>abstain calibrate</code> makes one."
    )


def _controls(case: Case, scores: list[str]) -> str:
    options = [option(place, shortened(score)) for place, score in enumerate(scores)]
    sliders = (
        _slider("threshold", "Threshold", "any")
        + _slider("coverage", "Coverage (%)", "0.1", lowest=0, highest=100)
        + _slider("risk", "Risk bound, at most (%)", "0.01", lowest=0, highest=100)
    )
    return (
        f'<div class="controls">{select("explorer-score", "Score", options)}'
        f"{mix_select('explorer-mix', case.evaluation)}"
        '<button type="button" class="button" id="explorer-reset">Back to the decision</button></div>'
        f'<div class="sliders">{sliders}</div>'
    )


def _slider(which: str, title: str, step: str, *, lowest: float = 0, highest: float = 0) -> str:
    limits = f' min="{lowest:g}" max="{highest:g}"' if highest else ""
    label, move = f"explorer-{which}", "1" if which == "threshold" else step
    return (
        f'<div class="slider"><label for="{label}">{text(title)}</label>'
        f'<input type="number" id="{label}" step="{step}"{limits}>'
        f'<input type="range" id="{label}-slider" aria-label="{text(title)}" step="{move}"{limits}></div>'
    )


def _tiles() -> str:
    return tiles(
        ("Accepted", "", "", "explorer-accepted"),
        ("Rejected", "", "", "explorer-rejected"),
        ("Selective risk", "", "", "explorer-selective"),
        ("Upper bound of the risk", "", "", "explorer-bound"),
    )


def _daily() -> str:
    fields = "".join(
        f'<label>{title} <input type="number" id="explorer-{which}" min="0" step="any" value="{value}"></label>'
        for which, title, value in (
            ("volume", "Answers a day", 1000),
            ("cost-rejection", "Cost of a rejection", 1),
            ("cost-error", "Cost of an error", 10),
        )
    )
    shown = tiles(
        ("Accepted a day", "", "", "daily-accepted"),
        ("To look at a day", "", "", "daily-rejected"),
        ("Wrong answers a day", "", "", "daily-wrong"),
        ("Cost a day", "", "", "daily-cost"),
    )
    return (
        '<h3>In a day</h3><p id="daily-words">Expected, if days are like these rows.</p>'
        '<p class="quiet">1000 answers a day, and costs of 1 and 10, are examples: put yours.</p>'
        f'<div class="controls">{fields}<button type="button" class="button" id="explorer-cheapest">Go to the cheapest '
        f'point</button></div><div aria-live="polite">{shown}</div>'
    )


def _tables(parts: list[Division]) -> str:
    if not parts:
        return ""
    options = [option(division.name, division.title) for division in parts]
    tables = "".join(
        f'<div id="parts-{division.name}"{" hidden" if place else ""}>{_table(division)}</div>'
        for place, division in enumerate(parts)
    )
    chosen = select("explorer-parts", "Divide the rows by", options)
    return f'<h3>Who is accepted, who is rejected</h3><div class="controls">{chosen}</div>{tables}'


def _table(division: Division) -> str:
    columns = [Column(division.title), *(Column(title, number=True) for title in COLUMNS)]
    rows = [[Cell(name(part)), *[Cell("")] * len(COLUMNS)] for part in division.parts]
    return table(
        columns, rows, caption=f"By {division.title.lower()}, at the point above", name=f"table-{division.name}"
    )


def _spec() -> dict[str, Any]:
    alt = require("altair", extra="report", feature="The page")
    x = alt.X("coverage:Q", title="Coverage (%)", scale=alt.Scale(domain=[0, 100]))
    tips = [
        alt.Tooltip("coverage:Q", title="coverage (%)", format=".2f"),
        alt.Tooltip("risk:Q", title="risk (%)", format=".3f"),
        alt.Tooltip("bound:Q", title="bound (%)", format=".3f"),
    ]
    rows, point = alt.Chart(alt.NamedData("rows")), alt.Chart(alt.NamedData("point"))
    y = alt.Y("risk:Q", title="Selective risk (%)", scale=alt.Scale(zero=True))
    line = rows.mark_line(strokeWidth=2, color="#0f7f8c").encode(x=x, y=y)
    bound = rows.mark_line(strokeWidth=1.2, color="#0f7f8c", strokeDash=[4, 3], opacity=0.8).encode(x=x, y="bound:Q")
    rule = point.mark_rule(color="#d1662f", strokeWidth=1.5).encode(x=x)
    dot = point.mark_point(filled=True, size=110, color="#d1662f", opacity=1).encode(x=x, y=y, tooltip=tips)
    return chart(line + bound + rule + dot, height=260)

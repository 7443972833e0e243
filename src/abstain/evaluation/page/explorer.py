"""The explorer of operating points: move a threshold, a coverage or a risk, and read exact counts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._extras import require
from abstain._io.records import jsonable
from abstain.evaluation import verdict
from abstain.evaluation.divisions import KINDS, Division
from abstain.evaluation.mixes import MIXES
from abstain.evaluation.page.command import command_parts, line_of
from abstain.evaluation.page.context import PageContext
from abstain.evaluation.page.counts import ThresholdCounts
from abstain.evaluation.verdict import BASELINE
from abstain.metrics.checks import rejected_last
from abstain.report.page import Section, TableCell, name, render, shortened, table
from abstain.report.page.parts import chart
from abstain.scores.registry import DEFAULT

MOST_SCORES = 3
MOST_PARTS = 200  # of a division; the smallest beyond are one part
COLUMNS = ("Rows", "Accepted", "Rejected", "Coverage", "Wrong among accepted", "Risk")


def explorer(case: PageContext, /) -> Section:
    """Every number is counted in Python at the thresholds that the page knows; the browser looks it up."""
    parts = [division.largest(MOST_PARTS) for division in case.divisions]
    scores = {} if case.is_graded else _scores(case)
    if not scores or not all(len(counts.ranks) for counts, _ in scores.values()):
        html = render("explorer.html", scores=[], graded=case.is_graded)
        return Section(name="explorer", title="Explore", html=html)
    html = render(
        "explorer.html",
        scores=[(index, shortened(score), False) for index, score in enumerate(scores)],
        mixes=case.mix_options,
        confidence=f"{100 * (1 - case.delta):g}",
        clustered=case.clusters is not None,
        divisions=[(division.name, _table(division)) for division in parts],
        divided_by=[(division.name, division.title, False) for division in parts],
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
    return Section(name="explorer", title="Explore", html=html, data=data, scripts=("explorer.js",), draws=True)


def _scores(case: PageContext) -> dict[str, tuple[ThresholdCounts, NDArray[np.bool_]]]:
    """The score decided for, and the others one would think of where they are known of the same rows."""
    evaluation, point = case.evaluation, case.point
    scores = {point.score: (ThresholdCounts.of(point.confidence, chosen=point.offered), point.errors)}
    if point.outputs is not evaluation.outputs:
        return scores
    for score in (verdict(evaluation).best, BASELINE, DEFAULT):
        if score in evaluation.confidence and score not in scores and len(scores) < MOST_SCORES:
            scores[score] = (ThresholdCounts.of(rejected_last(evaluation.confidence[score])), evaluation.outcomes)
    return scores


def _counted(
    case: PageContext, counts: ThresholdCounts, errors: NDArray[np.bool_], parts: list[Division]
) -> dict[str, Any]:
    bounds = {
        mix: counts.bounds(mix, case.kinds, errors, delta=case.delta, clusters=case.clusters)
        for mix in case.evaluation.mixes
    }
    return {
        "thresholds": jsonable(counts.thresholds.tolist()),
        "bounds": {mix: [f"{100 * bound:.{case.digits}f}" for bound in each.tolist()] for mix, each in bounds.items()},
        "counts": {division.name: counts.of_parts(division, case.kinds, errors) for division in parts},
    }


def _start(case: PageContext) -> dict[str, Any]:
    """Where the page begins: at the threshold decided for, or at its coverage."""
    point = case.point
    return {
        "threshold": jsonable(point.offered),
        "coverage": point.coverage,
        "risk": point.offered_risk,
        "command": line_of(case) if point.selector is None else None,
    }


def _table(division: Division) -> str:
    columns, caption = [division.title, *COLUMNS], f"By {division.title.lower()}, at the point above"
    rows = [[TableCell(name(part)), *[TableCell("")] * len(COLUMNS)] for part in division.parts]
    return table(columns, rows, caption=caption, numbers=range(1, len(columns)), id=f"table-{division.name}")


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

"""Risk–coverage curves that can be pointed at."""

from typing import Any

import numpy as np

from abstain._arrays import Floats, Ints
from abstain._extras import require
from abstain._text import counted
from abstain.evaluation.page.context import PageContext
from abstain.evaluation.verdict import BASELINE
from abstain.metrics import RiskCoverage
from abstain.report.figures.style import FOR_OOD, LINES, first_rows
from abstain.report.page import Section, render, shortened
from abstain.report.page.parts import chart
from abstain.scores.registry import DEFAULT

MOST = 16  # curves
DRAWN = 6  # of them from the beginning
UNIT = 1_000_000  # shares are integers of this unit
COLOURS = (  # one for each curve: dashes distinguish kinds of scores, not curves
    "#0f7f8c", "#d1662f", "#7a63b8", "#3f8f4f", "#c2497d", "#a8842c", "#4b83c3", "#8a8a8a",
    "#e0a03a", "#5fb6c0", "#9c4a1f", "#b39ddb", "#7fb069", "#e58fb1", "#a33a3a", "#6e7f3a",
)  # fmt: skip
WIDTH = 2  # of a line
COLUMNS = 500  # of a picture, about
TOLERANCE = 0.001  # of its height, less than a dot of the screen
SOLID, DASHED = [1.0, 0.0], [float(WIDTH * length) for length in FOR_OOD[1]]


def curves(case: PageContext, /) -> Section:
    """The curves of the best scores and of the usual one, thinned; the table has those that are not here."""
    evaluation = case.evaluation
    names = _names(case)
    for_ood = [evaluation.entries[score].about.for_ood for score in names]
    styles = [(colour, DASHED if dashed else SOLID) for colour, dashed in zip(COLOURS, for_ood, strict=False)]
    rest = len(evaluation.scores) - len(names)
    shown = [shortened(score) for score in names]
    html = render(
        "curves.html",
        lines=LINES,
        graded=case.is_graded,
        left=counted(rest, "score") if rest else "",
        mixes=case.mix_options,
        drawn=DRAWN,
        picks=[
            (name, colour, "dashed" if dash == DASHED else "solid")
            for name, (colour, dash) in zip(shown, styles, strict=True)
        ],
    )
    data = {"spec": _spec(shown, styles), "unit": UNIT, "names": shown, "mixes": _curves(case, names)}
    return Section(name="curves", title="Risk and coverage", html=html, data=data, scripts=("curves.js",), draws=True)


def _names(case: PageContext) -> list[str]:
    """The score decided for, the best ones and the usual one, from the best to the worst."""
    evaluation = case.evaluation
    areas = {row.score: row.aurc for row in evaluation.column(evaluation.mixes[-1], max(evaluation.alphas))}
    ranked = sorted(evaluation.scores, key=lambda score: areas[score])
    first = [score for score in (case.point.score, BASELINE, DEFAULT) if score in areas]
    kept = list(dict.fromkeys([*first, *ranked]))[:MOST]
    families = {evaluation.entries[score].about.family: score for score in reversed(ranked) if score in kept}
    return list(dict.fromkeys([*first, *families.values(), *kept]))


def _curves(case: PageContext, names: list[str]) -> dict[str, list[Any]]:
    """By mix, for each score, coverages and risks in millionths."""
    evaluation = case.evaluation
    sizes = {row.mix: row.n for row in evaluation.areas}
    return {mix: [_points(evaluation.curve(score, mix), sizes[mix]) for score in names] for mix in evaluation.mixes}


def _points(curve: RiskCoverage, n: int) -> list[list[int]]:
    shown = curve.coverage >= first_rows(n) / n
    coverage, risk = curve.coverage[shown], curve.risk[shown]
    kept = thinned(coverage, risk)
    return [np.rint(UNIT * values[kept]).astype(int).tolist() for values in (coverage, risk)]


def _spec(names: list[str], styles: list[tuple[str, list[float]]]) -> dict[str, Any]:
    alt = require("altair", extra="report", feature="The page")
    base = alt.Chart(alt.NamedData("rows"))
    x = alt.X("coverage:Q", title="Coverage (%)", scale=alt.Scale(domain=[0, 100]))
    y = alt.Y("risk:Q", title="Selective risk (%)", scale=alt.Scale(zero=True))
    colour = alt.Color("score:N", legend=None, scale=alt.Scale(domain=names, range=[colour for colour, _ in styles]))
    dash = alt.StrokeDash("score:N", legend=None, scale=alt.Scale(domain=names, range=[dash for _, dash in styles]))
    near = alt.selection_point(name="near", nearest=True, on="pointermove", clear="pointerout", empty=False)
    tips = [
        alt.Tooltip("score:N", title="score"),
        alt.Tooltip("coverage:Q", title="coverage (%)", format=".2f"),
        alt.Tooltip("risk:Q", title="risk (%)", format=".3f"),
    ]
    lines = base.mark_line(strokeWidth=WIDTH).encode(x=x, y=y, color=colour, strokeDash=dash)
    dots = (
        base.mark_point(filled=True, size=70)
        .encode(x=x, y=y, color=colour, tooltip=tips, opacity=alt.condition(near, alt.value(1), alt.value(0)))
        .add_params(near)
    )
    return chart(lines + dots, height=360)


def thinned(x: Floats, y: Floats, /) -> Ints:
    """The numbers of points that are enough to draw y over ascending x: no line between them is visibly off.

    First the lowest and the highest of many neighbours, then those of them that a straight line would miss.
    """
    kept = _extremes(y) if len(y) > 4 * COLUMNS else np.arange(len(y))
    height = float(np.ptp(y)) if len(y) else 0.0
    return kept[_corners(x[kept], y[kept], TOLERANCE * height)]


def _extremes(y: Floats) -> Ints:
    each = -(-len(y) // COLUMNS)
    padded = np.concatenate([y, np.full(-len(y) % each, y[-1])]).reshape(-1, each)
    starts = each * np.arange(len(padded))
    points = [[0, len(y) - 1], starts + padded.argmin(axis=1), starts + padded.argmax(axis=1)]
    return np.unique(np.minimum(np.concatenate(points), len(y) - 1))


def _corners(x: Floats, y: Floats, tolerance: float) -> Ints:
    """Ramer and Douglas and Peucker's: split where a line is furthest off, until none is off by more."""
    kept = {0, len(x) - 1} if len(x) else set()
    parts = [(0, len(x) - 1)]
    while parts:
        first, last = parts.pop()
        if last - first < 2:
            continue
        inside = slice(first + 1, last)
        off = np.abs(y[inside] - np.interp(x[inside], x[[first, last]], y[[first, last]]))
        worst = int(np.argmax(off))
        if off[worst] > tolerance:
            middle = first + 1 + worst
            kept.add(middle)
            parts += [(first, middle), (middle, last)]
    return np.array(sorted(kept), dtype=np.int64)

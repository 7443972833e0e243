"""Risk–coverage curves that can be pointed at."""

from typing import Any

import numpy as np

from abstain.evaluation.mixes import MIXES
from abstain.evaluation.verdict import BASELINE
from abstain.extras import require
from abstain.kernels.ranks import order_rows
from abstain.metrics.checks import rejected_last
from abstain.report.divisions import KINDS, kinds_of
from abstain.report.evaluation_page.case import Case
from abstain.report.evaluation_page.controls import mix_select
from abstain.report.evaluation_page.thinning import thinned
from abstain.report.figures.style import FOR_OOD, LINES, first_rows
from abstain.report.page import Section, asset, shortened, text
from abstain.report.page.chart import chart
from abstain.scores.default import DEFAULT
from abstain.words import counted

MOST = 16  # curves
DRAWN = 6  # of them from the beginning
UNIT = 1_000_000  # shares are whole numbers of it
COLOURS = (  # one for each curve: dashes tell kinds of scores apart, not curves
    "#0f7f8c", "#d1662f", "#7a63b8", "#3f8f4f", "#c2497d", "#a8842c", "#4b83c3", "#8a8a8a",
    "#e0a03a", "#5fb6c0", "#9c4a1f", "#b39ddb", "#7fb069", "#e58fb1", "#a33a3a", "#6e7f3a",
)  # fmt: skip
WIDTH = 2  # of a line
SOLID, DASHED = [1.0, 0.0], [float(WIDTH * length) for length in FOR_OOD[1]]


def curves(case: Case, /) -> Section:
    """The curves of the best scores and of the usual one, thinned; the table has those that are not here."""
    evaluation = case.evaluation
    names = _names(case)
    for_ood = [evaluation.entries[score].about.for_ood for score in names]
    styles = [(colour, DASHED if dashed else SOLID) for colour, dashed in zip(COLOURS, for_ood, strict=False)]
    picks = "".join(_pick(place, score, *style) for place, (score, style) in enumerate(zip(names, styles, strict=True)))
    rest = len(evaluation.scores) - len(names)
    left = f" In the table only, as they rank lower: {counted(rest, 'score')}." if rest else ""
    words = (
        "<p>The share of errors among accepted answers, over the share accepted: the lower a curve, the better. Point "
        f"at one to read it. {LINES}{left}</p>"
    )
    hidden = " hidden" if len(names) < 2 else ""
    html = (
        f'{words}<div class="controls">{mix_select("curves-mix", evaluation)}</div>'
        '<div class="chart" id="curves-chart" role="img" aria-label="Risk–coverage curves; the table above has their '
        'areas"></div>'
        f'<fieldset{hidden}><legend class="small">Curves</legend><div class="picks">{picks}</div></fieldset>'
    )
    data = {
        "spec": _spec([shortened(score) for score in names], styles),
        "unit": UNIT,
        "names": [shortened(score) for score in names],
        "mixes": _curves(case, names),
    }
    return Section(
        name="curves",
        title="Risk and coverage",
        html=html,
        data=data,
        scripts=(asset(__package__, "curves.js"),),
        draws=True,
    )


def _names(case: Case) -> list[str]:
    """The score decided for, the best ones and the usual one, from the best to the worst."""
    evaluation = case.evaluation
    areas = {row["score"]: row["aurc"] for row in evaluation.column(evaluation.mixes[-1], max(evaluation.alphas))}
    ranked = sorted(evaluation.scores, key=lambda score: float(areas[score]))
    first = [score for score in (case.point.score, BASELINE, DEFAULT) if score in areas]
    kept = list(dict.fromkeys([*first, *ranked]))[:MOST]
    families = {evaluation.entries[score].about.family: score for score in reversed(ranked) if score in kept}
    return list(dict.fromkeys([*first, *families.values(), *kept]))


def _pick(place: int, score: str, colour: str, dash: list[float]) -> str:
    checked = " checked" if place < DRAWN else ""
    style = f"border-color:{colour};border-top-style:{'dashed' if dash == DASHED else 'solid'}"
    return (
        f'<label><input type="checkbox" name="curve" value="{place}"{checked}>'
        f'<span class="swatch" style="{style}"></span><bdi>{text(shortened(score))}</bdi></label>'
    )


def _curves(case: Case, names: list[str]) -> dict[str, list[Any]]:
    """By mix, for each score, coverages and risks as whole numbers of a millionth."""
    evaluation = case.evaluation
    found: dict[str, list[Any]] = {mix: [] for mix in evaluation.mixes}
    kinds = kinds_of(evaluation.outputs)
    for score in names:
        confidence = rejected_last(evaluation.confidence[score])
        rows, begins = order_rows(confidence)
        last = np.append(begins[1:], True) & (confidence[rows] > -np.inf)
        errors, kind = evaluation.errors[rows], kinds[rows]
        for mix in evaluation.mixes:
            inside = np.isin(KINDS, MIXES[mix].kinds)[kind]
            accepted, wrong, n = (
                np.cumsum(inside)[last],
                np.cumsum(errors & inside)[last],
                int(np.count_nonzero(inside)),
            )
            shown = accepted >= first_rows(n)
            coverage, risk = accepted[shown] / n, wrong[shown] / accepted[shown]
            kept = thinned(coverage, risk)
            found[mix].append([np.rint(UNIT * one[kept]).astype(int).tolist() for one in (coverage, risk)])
    return found


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

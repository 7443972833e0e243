"""The table of all scores, in every mix, at every α and by every metric that was measured."""

from typing import Any

from abstain.evaluation import AreaRow, Evaluation, MetricRow, summarize, verdict
from abstain.evaluation.page.context import PageContext
from abstain.metrics.registry import as_metric
from abstain.report.page import Section, TableCell, render, table

STANDING = {"best": "best", "tied": "statistically tied", "worse": "significantly worse", "": ""}
AREA = "AURC"
NO_SHARES = ("log_loss", "brier_score")  # metrics that are no share of anything


def scores_table(case: PageContext, /) -> Section:
    """Sortable; a mix and a metric are chosen, and every cell is as Python wrote it."""
    evaluation = case.evaluation
    views = {
        f"{mix}|{metric}": _column(evaluation, mix, metric)
        for mix in evaluation.mixes
        for metric in _metrics(evaluation, mix)
    }
    mix, metric = evaluation.mixes[-1], f"{AREA}-{max(evaluation.alphas):g}"
    shown = views[f"{mix}|{metric}"]
    order = sorted(range(len(evaluation.scores)), key=lambda index: shown[index][0])
    rows = [_row(case, evaluation.scores[index], shown[index]) for index in order]
    columns = ["Score", "Value", "Interval", "Behind the best", "Standing"]
    caption = "Each score on the same rows. AURC-α is the mean risk over coverages up to α; lower is better."
    html = render(
        "scores.html",
        verdict=verdict(evaluation).words,
        graded=case.is_graded,
        other_rows=None if case.n == evaluation.n else (f"{evaluation.n:,}", f"{case.n:,}"),
        level=f"{100 * evaluation.level:g}",
        mixes=case.mix_options,
        metrics=[
            (AREA, "AURC (lower is better)", False),
            *((metric, _title(metric), False) for metric in _extra(evaluation)),
        ],
        alphas=[(f"{alpha:g}", f"{100 * alpha:g}%", alpha == max(evaluation.alphas)) for alpha in evaluation.alphas],
        table=table(columns, rows, caption=caption, numbers=range(1, 4), id="scores-table"),
        left_out=summarize(evaluation, shown=None).left_out,
    )
    data = {"order": order, "views": views, "standing": STANDING, "area": AREA}
    return Section(name="scores", title="The scores", html=html, data=data, scripts=("scores.js",))


def _extra(evaluation: Evaluation, mix: str | None = None) -> list[str]:
    """The extra metrics of scores, in a mix or in any."""
    return list(
        dict.fromkeys(row.metric for row in evaluation.extra if row.score is not None and mix in (None, row.mix))
    )


def _metrics(evaluation: Evaluation, mix: str) -> list[str]:
    return [*(f"{AREA}-{alpha:g}" for alpha in evaluation.alphas), *_extra(evaluation, mix)]


def _column(evaluation: Evaluation, mix: str, metric: str) -> list[list[Any]]:
    """For each score: what it is sorted by, value, interval, distance to the best, standing."""
    if metric.startswith(f"{AREA}-"):
        alpha = next(alpha for alpha in evaluation.alphas if f"{AREA}-{alpha:g}" == metric)
        return [_area(evaluation, evaluation.row(score, mix, alpha)) for score in evaluation.scores]
    rows = {row.score: row for row in evaluation.extra if (row.mix, row.metric) == (mix, metric)}
    return [_measured(metric, rows.get(score)) for score in evaluation.scores]


def _area(evaluation: Evaluation, row: AreaRow) -> list[Any]:
    apart = evaluation.behind.get((row.score, row.mix, row.alpha))
    behind = (
        ""
        if apart is None or row.best
        else f"+{100 * apart.difference:.2f}% ({100 * apart.low:.2f}% to {100 * apart.high:.2f}%)"
    )
    standing = "best" if row.best else "tied" if row.tied else "worse"
    interval = f"{100 * row.low:.2f}% – {100 * row.high:.2f}%"
    return [row.aurc, f"{100 * row.aurc:.2f}%", interval, behind.replace("-", "−"), standing]


def _measured(metric: str, row: MetricRow | None) -> list[Any]:
    if row is None:
        return [1e300, "–", "", "", ""]
    sign = 1 if as_metric(metric)[0].better == "small" else -1
    shown = _plain if metric.startswith(NO_SHARES) else _percent
    interval = "" if row.low is None or row.high is None else f"{shown(row.low)} – {shown(row.high)}"
    return [sign * row.value, shown(row.value), interval, "", ""]


def _percent(value: float) -> str:
    return f"{100 * value:.2f}%"


def _plain(value: float) -> str:
    return f"{value:.4f}"


def _row(case: PageContext, score: str, shown: list[Any]) -> list[TableCell]:
    entry = case.evaluation.entries[score]
    symbol = "" if entry.symbol == score else entry.symbol[:60]
    named = render("score.html", score=score, symbol=symbol, summary=entry.about.summary)
    key, value, interval, behind, standing = shown
    return [
        TableCell(named),
        TableCell(value, key),
        TableCell(interval),
        TableCell(behind),
        TableCell(STANDING[standing]),
    ]


def _title(metric: str) -> str:
    measure, at = as_metric(metric)
    return f"{measure.title(at=at)} ({'lower' if measure.better == 'small' else 'higher'} is better)"

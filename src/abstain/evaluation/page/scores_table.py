"""The table of all scores, in every mix, at every α and by every metric that was measured."""

from typing import Any

from abstain.evaluation import Evaluation, summarize
from abstain.evaluation.page.context import PageContext
from abstain.evaluation.summary import Line, MetricCell, MetricColumn
from abstain.metrics.registry import as_metric
from abstain.report.page import Section, TableCell, render, table

STANDING = {"best": "best", "tied": "statistically tied", "worse": "significantly worse", "": ""}
AREA = "AURC"
NO_SHARES = ("log_loss", "brier_score")  # metrics that are no share of anything


def scores_table(case: PageContext, /) -> Section:
    """Sortable; a mix and a metric are chosen, and every cell is as Python wrote it."""
    evaluation = case.evaluation
    summary = summarize(evaluation, mixes=evaluation.mixes, shown=None)
    cells = zip(*(line.cells for line in summary.lines), strict=True)
    views = {
        f"{column.mix}|{_metric(column)}": [
            _view(evaluation, line.score, column, cell) for line, cell in zip(summary.lines, of_scores, strict=True)
        ]
        for column, of_scores in zip(summary.columns, cells, strict=True)
    }
    widest = max(evaluation.alphas)
    shown = views[f"{evaluation.mixes[-1]}|{AREA}-{widest:g}"]
    order = sorted(range(len(shown)), key=lambda index: shown[index][0])
    extra = dict.fromkeys(column.metric for column in summary.columns if column.alpha is None)
    columns = ["Score", "Value", "Interval", "Behind the best", "Standing"]
    rows = [_row(case, summary.lines[index], shown[index]) for index in order]
    caption = "Each score on the same rows. AURC-α is the mean risk over coverages up to α; lower is better."
    html = render(
        "scores.html",
        verdict=summary.verdict.words,
        graded=case.is_graded,
        other_rows=None if case.n == evaluation.n else (f"{evaluation.n:,}", f"{case.n:,}"),
        level=f"{100 * evaluation.level:g}",
        mixes=case.mix_options,
        metrics=[(AREA, "AURC (lower is better)", False), *((metric, _title(metric), False) for metric in extra)],
        alphas=[(f"{alpha:g}", f"{100 * alpha:g}%", alpha == widest) for alpha in evaluation.alphas],
        table=table(columns, rows, caption=caption, numbers=range(1, 4), id="scores-table"),
        left_out=summary.left_out,
    )
    data = {"order": order, "views": views, "standing": STANDING, "area": AREA}
    return Section(name="scores", title="The scores", html=html, data=data, scripts=("scores.js",))


def _metric(column: MetricColumn) -> str:
    return column.metric if column.alpha is None else f"{AREA}-{column.alpha:g}"


def _view(evaluation: Evaluation, score: str, column: MetricColumn, cell: MetricCell | None) -> list[Any]:
    """What a score is sorted by in a column, its value, interval, distance to the best, and standing."""
    if cell is None:
        return [1e300, "–", "", "", ""]
    shown = _plain if column.metric.startswith(NO_SHARES) else _percent
    interval = "" if cell.low is None or cell.high is None else f"{shown(cell.low)} – {shown(cell.high)}"
    key = cell.value if column.better == "small" else -cell.value
    if column.alpha is None:
        return [key, shown(cell.value), interval, "", ""]
    apart = None if cell.is_best else evaluation.behind.get((score, column.mix, column.alpha))
    behind = f"+{shown(apart.difference)} ({shown(apart.low)} to {shown(apart.high)})" if apart else ""
    standing = "best" if cell.is_best else "tied" if cell.tied else "worse"
    return [key, shown(cell.value), interval, behind.replace("-", "−"), standing]


def _percent(value: float) -> str:
    return f"{100 * value:.2f}%"


def _plain(value: float) -> str:
    return f"{value:.4f}"


def _row(case: PageContext, line: Line, view: list[Any]) -> list[TableCell]:
    symbol = "" if line.symbol == line.score else line.symbol[:60]
    summary = case.evaluation.entries[line.score].about.summary
    key, value, *words, standing = view
    cells = [TableCell(render("score.html", score=line.score, symbol=symbol, summary=summary)), TableCell(value, key)]
    return [*cells, *map(TableCell, words), TableCell(STANDING[standing])]


def _title(metric: str) -> str:
    measure, at = as_metric(metric)
    return f"{measure.title(at=at)} ({'lower' if measure.better == 'small' else 'higher'} is better)"

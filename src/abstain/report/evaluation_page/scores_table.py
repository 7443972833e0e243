"""The table of all scores, in every mix, at every α and by every metric that was measured."""

from typing import Any

from abstain.evaluation import Evaluation, summarize, verdict
from abstain.metrics.registry import as_metric
from abstain.report.evaluation_page.case import Case
from abstain.report.evaluation_page.controls import mix_select, option, select
from abstain.report.page import Cell, Column, Section, asset, name, table, text

STANDING = {"best": "best", "tied": "statistically tied", "worse": "significantly worse", "": ""}
AREA = "AURC"


def scores_table(case: Case, /) -> Section:
    """Sortable; a mix and a metric are chosen, and every cell is as Python wrote it."""
    evaluation = case.evaluation
    views = {
        f"{mix}|{metric}": _column(evaluation, mix, metric)
        for mix in evaluation.mixes
        for metric in _metrics(evaluation, mix)
    }
    mix, metric = evaluation.mixes[-1], f"{AREA}-{max(evaluation.alphas):g}"
    shown = views[f"{mix}|{metric}"]
    order = sorted(range(len(evaluation.scores)), key=lambda place: shown[place][0])
    rows = [_row(case, evaluation.scores[place], shown[place]) for place in order]
    columns = [
        Column("Score"),
        Column("Value", number=True),
        Column("Interval", number=True),
        Column("Behind the best", number=True),
        Column("Standing"),
    ]
    caption = "Each score on the same rows. AURC-α is the mean risk over coverages up to α, × 100; lower is better."
    parts = [
        f'<p class="lead">{text(_verdict(case))}</p>{_rows_of(case)}',
        "<p>Which confidence score ranks right answers above wrong ones? “Behind the best” is a paired difference with "
        f"its {100 * evaluation.level:g}% interval.</p>",
        _controls(evaluation),
        table(columns, rows, caption=caption, name="scores-table"),
        _left_out(evaluation),
    ]
    data = {"order": order, "views": views, "standing": STANDING, "area": AREA}
    return Section(
        name="scores", title="The scores", html="".join(parts), data=data, scripts=(asset(__package__, "scores.js"),)
    )


def _metrics(evaluation: Evaluation, mix: str) -> list[str]:
    further = [row["metric"] for row in evaluation.further if row["mix"] == mix and row["score"] is not None]
    return [*(f"{AREA}-{alpha:g}" for alpha in evaluation.alphas), *dict.fromkeys(further)]


def _column(evaluation: Evaluation, mix: str, metric: str) -> list[list[Any]]:
    """For each score: what it is sorted by, value, interval, distance to the best, standing."""
    if metric.startswith(f"{AREA}-"):
        alpha = next(alpha for alpha in evaluation.alphas if f"{AREA}-{alpha:g}" == metric)
        return [_area(evaluation, evaluation.row(score, mix, alpha)) for score in evaluation.scores]
    found = {row["score"]: row for row in evaluation.further if (row["mix"], row["metric"]) == (mix, metric)}
    return [_measured(metric, found.get(score)) for score in evaluation.scores]


def _area(evaluation: Evaluation, row: dict[str, Any]) -> list[Any]:
    apart = evaluation.behind.get((row["score"], row["mix"], row["alpha"]))
    behind = (
        ""
        if apart is None or row["best"]
        else f"+{100 * apart.difference:.2f} ({100 * apart.low:.2f} to {100 * apart.high:.2f})"
    )
    standing = "best" if row["best"] else "tied" if row["tied"] else "worse"
    interval = f"{100 * row['low']:.2f} – {100 * row['high']:.2f}"
    return [row["aurc"], f"{100 * row['aurc']:.2f}", interval, _minus(behind), standing]


def _measured(metric: str, row: dict[str, Any] | None) -> list[Any]:
    if row is None:
        return [1e300, "–", "", "", ""]
    sign = 1 if as_metric(metric)[0].better == "small" else -1
    value = row["value"]
    interval = "" if row["low"] is None else f"{row['low']:.4f} – {row['high']:.4f}"
    return [sign * value, f"{value:.4f}", interval, "", ""]


def _row(case: Case, score: str, shown: list[Any]) -> list[Cell]:
    entry = case.evaluation.entries[score]
    symbol = "" if entry.symbol == score else f' <span class="symbol">{text(entry.symbol[:60])}</span>'
    plain = f'<br><span class="quiet">{text(entry.about.summary)}</span>' if entry.about.summary else ""
    key, value, interval, behind, standing = shown
    return [
        Cell(name(score) + symbol + plain),
        Cell(value, key),
        Cell(interval),
        Cell(behind),
        Cell(STANDING[standing]),
    ]


def _controls(evaluation: Evaluation) -> str:
    names = dict.fromkeys(row["metric"] for row in evaluation.further if row["score"] is not None)
    metrics = [option(AREA, "AURC (lower is better)"), *(option(one, _title(one)) for one in names)]
    alphas = [option(f"{one:g}", f"{one:g}", one == max(evaluation.alphas)) for one in evaluation.alphas]
    return (
        f'<div class="controls">{mix_select("scores-mix", evaluation)}'
        f"{select('scores-metric', 'Metric', metrics)}{select('scores-alpha', 'α', alphas)}</div>"
    )


def _title(metric: str) -> str:
    found = as_metric(metric)[0]
    return f"{metric} ({'lower' if found.better == 'small' else 'higher'} is better)"


def _verdict(case: Case) -> str:
    return verdict(case.evaluation).words


def _rows_of(case: Case) -> str:
    """Where the point is about other rows than the table."""
    if case.n == case.evaluation.n:
        return ""
    return (
        f"<p>Scores are compared on {case.evaluation.n:,} rows, those that none was fitted on; the selector above is "
        f"counted on all {case.n:,}.</p>"
    )


def _left_out(evaluation: Evaluation) -> str:
    found = summarize(evaluation, shown=None).left_out
    if not found:
        return ""
    lines = "".join(f"<li>{', '.join(map(name, names))}: {text(reason)}.</li>" for names, reason in found)
    return f"<details><summary>Scores left out, and why</summary><ul>{lines}</ul></details>"


def _minus(words: str) -> str:
    return words.replace("-", "−")

"""`summarize`: an evaluation as plain data, laid out once for the terminal, Markdown, LaTeX and HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from abstain._names import check_name
from abstain._text import mean_of_outcomes
from abstain.evaluation.mixes import ALONE
from abstain.evaluation.score_table import AreaRow, MetricRow, ScoreTable
from abstain.evaluation.verdict import BASELINE, ScoreVerdict, verdict, verdict_of_table
from abstain.metrics.registry import as_metric

SHOWN = 15  # scores that fit a screen
FEW = 5  # errors
NO_VALUE = "–"


@dataclass(frozen=True)
class MetricColumn:
    """A metric on a mix: AURC-α, or another that was asked for."""

    metric: str
    """As people type it, with its parameter if that was given."""
    mix: str
    alpha: float | None
    """That of AURC-α, None of other metrics."""
    n: int
    errors: float
    better: Literal["small", "large"] = "small"
    is_alone: bool = False
    """Whether there is no other mix, so that its name adds nothing."""

    @property
    def head(self) -> str:
        """The heading where the mix is known."""
        return self.metric if self.alpha is None else f"α={self.alpha:g}"

    @property
    def title(self) -> str:
        """The heading of the column."""
        return self.head if self.is_alone else f"{self.mix} {self.head}"

    @property
    def rows(self) -> str:
        """The heading in a table of this mix alone."""
        counts = f"{self.n:,} rows, {mean_of_outcomes(self.errors, self.n)}"
        return counts if self.is_alone else f"{self.mix}: {counts}"


@dataclass(frozen=True)
class MetricCell:
    """The metric of a score, with its rank among the scores: 1 is the best."""

    value: float
    """As a fraction."""
    se: float | None
    low: float | None
    high: float | None
    """The interval, None where no standard error is known."""
    rank: int
    tied: bool
    """Not significantly worse than the best; for metrics other than AURC-α, only the best itself."""

    @property
    def is_best(self) -> bool:
        """Whether no score has a better value."""
        return self.rank == 1

    @property
    def text(self) -> str:
        """The value × 100."""
        return f"{100 * self.value:.2f}"

    @property
    def interval(self) -> str:
        """The interval × 100, empty where there is none."""
        return "" if self.low is None or self.high is None else f"{100 * self.low:.2f}–{100 * self.high:.2f}"


@dataclass(frozen=True)
class Line:
    """A score and its cells, one for each column; None where the metric is not defined."""

    score: str
    symbol: str
    cells: tuple[MetricCell | None, ...]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What an evaluation shows: the verdict, one table, and what a reader should know.

    Attributes
    ----------
    verdict : ScoreVerdict
        The score to use, and why.
    columns : tuple of MetricColumn
        Those of AURC-α come first in each mix.
    lines : tuple of Line
        From the best to the worst by the last AURC-α.
    not_shown : int
        Scores left out of the table to keep it short.
    of_softmax : tuple of tuples
        Metrics of the softmax, which are no score's: metric, mix and value.
    left_out : tuple of tuples
        Names of scores that could not be computed, and why.
    notes : tuple of str
        What a reader should know.
    level : float
        The level of the intervals.
    """

    verdict: ScoreVerdict
    columns: tuple[MetricColumn, ...]
    lines: tuple[Line, ...]
    not_shown: int
    of_softmax: tuple[tuple[str, str, float], ...]
    left_out: tuple[tuple[tuple[str, ...], str], ...]
    notes: tuple[str, ...]
    level: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"verdict": self.verdict.to_dict()}

    @property
    def caption(self) -> str:
        """What the numbers are, and which way is better."""
        large = dict.fromkeys(column.metric for column in self.columns if column.better == "large")
        if all(column.alpha is not None for column in self.columns):
            return "AURC-α × 100, lower is better."
        higher = f" Higher is better for {', '.join(large)}." if large else ""
        return f"AURC-α and other metrics × 100, lower is better.{higher}"

    def remarks(self) -> list[str]:
        """What a reader should know of the table."""
        few = dict.fromkeys(column.rows for column in self.columns if column.errors < FEW)
        remarks = [f"{rows}: intervals are wide, as there are so few errors." for rows in few]
        remarks += [f"{metric} of the softmax on {mix}: {value:.4f}." for metric, mix, value in self.of_softmax]
        remarks += [f"Left out: {', '.join(names)}: {reason}." for names, reason in self.left_out]
        return [*remarks, *self.notes]


Cells = dict[str, MetricCell]


def summarize(
    evaluation: ScoreTable,
    /,
    *,
    mixes: Sequence[str] | None = None,
    alphas: Sequence[float] | None = None,
    shown: int | None = SHOWN,
) -> Summary:
    """Lay out an evaluation for reading: AURC-α first in each mix, then the extra metrics that were asked for.

    Parameters
    ----------
    evaluation : Evaluation or SketchedEvaluation
        The scores compared.
    mixes : sequence of str, optional
        By default the widest.
    alphas : sequence of float, optional
        By default all of the evaluation.
    shown : int or None
        The best scores of the last AURC-α, and always the usual baseline; None for all.

    Returns
    -------
    Summary
    """
    table = summary_of_table(evaluation, mixes=mixes, alphas=alphas, shown=shown)
    return replace(table, verdict=verdict(evaluation, mix=table.columns[-1].mix))


def summary_of_table(
    evaluation: ScoreTable,
    /,
    *,
    mixes: Sequence[str] | None = None,
    alphas: Sequence[float] | None = None,
    shown: int | None = SHOWN,
) -> Summary:
    """The same with a verdict from the table alone: nothing is fitted."""
    for mix in mixes or ():
        check_name("mixes", mix, evaluation.mixes, rule=f"be mixes of these outputs ({', '.join(evaluation.mixes)})")
    chosen = list(mixes or evaluation.mixes[-1:])
    table = {
        column: cells for mix in chosen for column, cells in _columns(evaluation, mix, alphas or evaluation.alphas)
    }
    last = next(cells for column, cells in reversed(table.items()) if column.alpha is not None)
    ordered = sorted(evaluation.scores, key=lambda score: last[score].value)
    kept = ordered if shown is None else [*ordered[:shown], *(name for name in ordered[shown:] if name == BASELINE)]
    return Summary(
        verdict=verdict_of_table(evaluation, mix=chosen[-1]),
        columns=tuple(table),
        lines=tuple(
            Line(score, evaluation.entries[score].symbol, tuple(cells.get(score) for cells in table.values()))
            for score in kept
        ),
        not_shown=len(ordered) - len(kept),
        of_softmax=tuple(
            (row.metric, row.mix, row.value) for row in evaluation.extra if row.score is None and row.mix in chosen
        ),
        left_out=by_reason(evaluation.left_out),
        notes=evaluation.notes,
        level=evaluation.level,
    )


def _columns(evaluation: ScoreTable, mix: str, alphas: Sequence[float]) -> list[tuple[MetricColumn, Cells]]:
    """The columns of a mix with their cells by score: every α, then every extra metric that is defined there."""
    columns, alone = [], evaluation.mixes == [ALONE.name]
    for alpha in alphas:
        rows = evaluation.column(mix, alpha)
        size = rows[0].n, rows[0].errors
        ranks = _ranks({row.score: row.aurc for row in rows})
        cells = {row.score: _cell(row, row.aurc, ranks[row.score], tied=row.tied) for row in rows}
        columns.append((MetricColumn("aurc", mix, alpha, *size, is_alone=alone), cells))
    extra = [row for row in evaluation.extra if row.mix == mix]
    for name in dict.fromkeys(row.metric for row in extra if row.score is not None):
        metric, _ = as_metric(name)
        of_scores = {row.score: row for row in extra if row.score is not None and row.metric == name}
        sign = -1 if metric.better == "large" else 1
        ranks = _ranks({score: sign * row.value for score, row in of_scores.items()})
        cells = {score: _cell(row, row.value, ranks[score], tied=ranks[score] == 1) for score, row in of_scores.items()}
        columns.append((MetricColumn(name, mix, None, *size, metric.better, is_alone=alone), cells))
    return columns


def _cell(row: AreaRow | MetricRow, value: float, rank: int, *, tied: bool) -> MetricCell:
    return MetricCell(value, row.se, row.low, row.high, rank, tied)


def _ranks(values: Mapping[str, float]) -> dict[str, int]:
    """1 for the smallest and all that are equal to it, and so on."""
    ordered = sorted(values.values())
    return {score: 1 + ordered.index(value) for score, value in values.items()}


def by_reason(left_out: dict[str, str], /) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The names of scores that were left out for the same reason, and the reason."""
    return tuple(
        (tuple(name for name, why in left_out.items() if why == reason), reason)
        for reason in dict.fromkeys(left_out.values())
    )

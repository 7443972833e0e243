"""`Summary`: an evaluation as plain data, laid out once for the terminal, Markdown, LaTeX and HTML alike."""

from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Literal

from abstain.evaluation.verdict import Verdict

FEW = 5  # errors
NO_VALUE = "–"


@dataclass(frozen=True)
class Column:
    """A metric on a mix: AURC-α, or another that was asked for."""

    metric: str
    """As people type it, with its parameter if that was given."""
    mix: str
    alpha: float | None
    """That of AURC-α, None of other metrics."""
    n: int
    errors: int
    better: Literal["small", "large"] = "small"
    is_alone: bool = False
    """Whether there is no other mix, so that its name says nothing."""

    @property
    def head(self) -> str:
        """What stands above it where the mix is known."""
        return self.metric if self.alpha is None else f"α={self.alpha:g}"

    @property
    def title(self) -> str:
        """What stands above it."""
        return self.head if self.is_alone else f"{self.mix} {self.head}"

    @property
    def rows(self) -> str:
        """What stands above a table of this mix alone."""
        counts = f"{self.n:,} rows, {self.errors / self.n:.1%} errors"
        return counts if self.is_alone else f"{self.mix}: {counts}"


@dataclass(frozen=True)
class Cell:
    """The metric of a score, with its place among the scores: 1 is the best."""

    value: float
    """As a fraction."""
    se: float | None
    low: float | None
    high: float | None
    """The interval, None where no standard error is known."""
    place: int
    tied: bool
    """Not significantly worse than the best; only the best itself where that is not tested, as beside AURC-α."""

    @property
    def is_best(self) -> bool:
        """Whether no score has a better value."""
        return self.place == 1

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
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What an evaluation shows: the verdict, one table, and what a reader should know."""

    verdict: Verdict
    columns: tuple[Column, ...]
    """Those of AURC-α come first in each mix."""
    lines: tuple[Line, ...]
    """From the best to the worst by the last AURC-α."""
    not_shown: int
    """Scores left out of the table to keep it short."""
    of_softmax: tuple[tuple[str, str, float], ...]
    """Metrics of the softmax, which are no score's: metric, mix and value."""
    left_out: tuple[tuple[tuple[str, ...], str], ...]
    """Names of scores that could not be computed, and why."""
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
        remarks = [f"{rows}: intervals are wide, as so few errors say little." for rows in few]
        remarks += [f"{metric} of the softmax on {mix}: {value:.4f}." for metric, mix, value in self.of_softmax]
        remarks += [f"Left out: {', '.join(names)}: {reason}." for names, reason in self.left_out]
        return [*remarks, *self.notes]

    def to_html(self) -> str:
        """A small table for notebooks."""
        head = "".join(f"<th>{escape(column.title)}</th>" for column in self.columns)
        body = "".join(
            f"<tr><td style='text-align:left'>{escape(line.score)} <small>{escape(line.symbol)}</small></td>"
            + "".join(f"<td>{_marked(cell)}</td>" for cell in line.cells)
            + "</tr>"
            for line in self.lines
        )
        notes = "".join(f"<br><small>{escape(note)}</small>" for note in self.remarks())
        return (
            f"<p>{escape(self.verdict.words)}</p><table><tr><th>× 100</th>{head}</tr>{body}</table>"
            f"<p><small>{escape(self.caption)} Bold: best; italics: not significantly worse.</small>{notes}</p>"
        )


def _marked(cell: Cell | None) -> str:
    if cell is None:
        return NO_VALUE
    return f"<b>{cell.text}</b>" if cell.is_best else f"<i>{cell.text}</i>" if cell.tied else cell.text

"""`summarize`: an evaluation as plain data, laid out once for the terminal, Markdown, LaTeX and HTML alike."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from abstain.evaluation.table import Table
from abstain.evaluation.verdict import BASELINE, Verdict, verdict
from abstain.names import check_name

SHOWN = 15  # scores that fit a screen
FEW = 5  # errors


@dataclass(frozen=True)
class Column:
    """AURC-α of a mix."""

    mix: str
    alpha: float
    n: int
    errors: int


@dataclass(frozen=True)
class Cell:
    """AURC-α of a score, with its place among the scores: 1 is the best."""

    aurc: float
    low: float
    high: float
    place: int
    tied: bool
    """Not significantly worse than the best."""

    @property
    def is_best(self) -> bool:
        """Whether no score has a lower value."""
        return self.place == 1


@dataclass(frozen=True)
class Line:
    """A score and its cells, one for each column."""

    score: str
    symbol: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What an evaluation shows: the verdict, one table, and what a reader should know."""

    verdict: Verdict
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    """From the best to the worst in the last column."""
    not_shown: int
    """Scores left out of the table to keep it short."""
    left_out: tuple[tuple[tuple[str, ...], str], ...]
    """Names of scores that could not be computed, and why."""
    notes: tuple[str, ...]
    level: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"verdict": self.verdict.to_dict()}

    def remarks(self) -> list[str]:
        """What a reader should know of the table."""
        sizes = dict.fromkeys((column.mix, column.errors, column.n) for column in self.columns)
        remarks = [
            f"{mix} has {errors} error(s) in {n} rows: so few tell little, which is why its intervals are wide."
            for mix, errors, n in sizes
            if errors < FEW
        ]
        remarks += [f"Left out: {', '.join(names)}: {reason}." for names, reason in self.left_out]
        return [*remarks, *self.notes]

    def to_html(self) -> str:
        """A small table for notebooks."""
        head = "".join(f"<th>{escape(column.mix)} α={column.alpha:g}</th>" for column in self.columns)
        body = "".join(
            f"<tr><td style='text-align:left'>{escape(line.score)} <small>{escape(line.symbol)}</small></td>"
            + "".join(
                f"<td>{'<b>' if cell.is_best else '<i>' if cell.tied else ''}{100 * cell.aurc:.2f}"
                f"{'</b>' if cell.is_best else '</i>' if cell.tied else ''}</td>"
                for cell in line.cells
            )
            + "</tr>"
            for line in self.lines
        )
        notes = "".join(f"<br><small>{escape(note)}</small>" for note in self.remarks())
        return (
            f"<p>{escape(self.verdict.words)}</p><table><tr><th>AURC × 100</th>{head}</tr>{body}</table>"
            f"<p><small>Bold: best; italics: not significantly worse.</small>{notes}</p>"
        )


def summarize(
    evaluation: Table,
    /,
    *,
    mixes: Sequence[str] | None = None,
    alphas: Sequence[float] | None = None,
    shown: int | None = SHOWN,
) -> Summary:
    """Lay out an evaluation: the widest mix unless ``mixes`` names others, and the ``shown`` best scores, or all.

    The score people use today is always among those shown.
    """
    for mix in mixes or ():
        check_name("mixes", mix, evaluation.mixes, rule=f"be among {', '.join(evaluation.mixes)}")
    columns = [(mix, alpha) for mix in mixes or evaluation.mixes[-1:] for alpha in alphas or evaluation.alphas]
    tables = [{row["score"]: row for row in evaluation.column(mix, alpha)} for mix, alpha in columns]
    ordered = sorted(evaluation.scores, key=lambda score: float(tables[-1][score]["aurc"]))
    kept = ordered if shown is None else [*ordered[:shown], *(name for name in ordered[shown:] if name == BASELINE)]
    places = [_places(table) for table in tables]
    lines = [
        Line(
            score,
            evaluation.entries[score].symbol,
            tuple(_cell(table[score], place[score]) for table, place in zip(tables, places, strict=True)),
        )
        for score in kept
    ]
    return Summary(
        verdict=verdict(evaluation, mix=columns[-1][0]),
        columns=tuple(_column(mix, alpha, table) for (mix, alpha), table in zip(columns, tables, strict=True)),
        lines=tuple(lines),
        not_shown=len(ordered) - len(kept),
        left_out=_by_reason(evaluation.left_out),
        notes=evaluation.notes,
        level=evaluation.level,
    )


def _column(mix: str, alpha: float, table: dict[str, dict[str, Any]]) -> Column:
    row = next(iter(table.values()))
    return Column(mix, alpha, row["n"], row["errors"])


def _by_reason(left_out: dict[str, str]) -> tuple[tuple[tuple[str, ...], str], ...]:
    return tuple(
        (tuple(name for name, why in left_out.items() if why == reason), reason)
        for reason in dict.fromkeys(left_out.values())
    )


def _places(table: dict[str, dict[str, Any]]) -> dict[str, int]:
    """1 for the best and all that are equal to it, and so on."""
    values = sorted(row["aurc"] for row in table.values())
    return {score: 1 + values.index(row["aurc"]) for score, row in table.items()}


def _cell(row: dict[str, Any], place: int) -> Cell:
    return Cell(row["aurc"], row["low"], row["high"], place, row["tied"])

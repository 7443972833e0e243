"""The tables of two models, laid out once for the terminal, Markdown and the page."""

from collections.abc import Callable
from dataclasses import dataclass

from abstain.evaluation.runs import Difference, MixComparison, RunComparison
from abstain.evaluation.runs.signed import ends, signed
from abstain.report.markdown import inline, markdown_lines


@dataclass(frozen=True)
class Table:
    """A title, the names of its columns and its cells; all but the first column hold numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def comparison_tables(comparison: RunComparison, mix: MixComparison, /) -> list[Table]:
    """AURC-α, risk at the same coverage, coverage at the same risk, and the coverage of each at the other's risk."""
    a, b = comparison.names
    columns = (a, b, f"{a} − {b}", "SE", f"{100 * comparison.level:g}% interval", "")
    of_a = f"Coverage of {a} at the risk that {b} has at a coverage, %"
    of_b = f"Coverage of {b} at the risk that {a} has at a coverage, %"
    at_b, at_a = mix.coverage_at_risk_of_b, mix.coverage_at_risk_of_a
    kinds = (
        ("AURC-α × 100", "α", [_cells(one) for one in mix.aurc]),
        ("Risk at the same coverage, %", "coverage", [_cells(one) for one in mix.risk]),
        ("Coverage at the same risk, %", "risk", [_cells(one, share=_share) for one in mix.coverage]),
        (of_a, "coverage", [_cells(one, share=_share, all_at=100 * (1 - one.at)) for one in at_b]),
        (of_b, "coverage", [_cells(one, share=_share, all_at=100 * (one.at - 1)) for one in at_a]),
    )
    return [Table(title, (first, *columns), tuple(rows)) for title, first, rows in kinds if rows]


def _percent(value: float) -> str:
    return f"{100 * value:.2f}"


def _share(value: float) -> str:
    return "all" if value == 1 else _percent(value)


def _cells(
    one: Difference, *, share: Callable[[float], str] = _percent, all_at: float | None = None
) -> tuple[str, ...]:
    """``all_at`` is the difference where all rows are accepted, and no more can be."""
    se = "–" if one.se is None else _percent(one.se)
    interval = ends(100 * one.low, 100 * one.high, all_at=all_at)
    mark = "significant" if one.is_significant else ""
    return (f"{one.at:.4g}", share(one.a), share(one.b), signed(100 * one.difference), se, interval, mark)


def comparison_markdown(comparison: RunComparison, /) -> str:
    """The verdict and every table in Markdown."""
    a, b = (f"{name} ({score})" for name, score in zip(comparison.names, comparison.scores, strict=True))
    lines = [f"# {inline(a)} and {inline(b)}", "", inline(comparison.words()), ""]
    for mix in reversed(comparison.mixes):
        lines += [f"## {mix.mix}: {mix.n:,} rows, {mix.errors_a:,} and {mix.errors_b:,} errors", ""]
        for table in comparison_tables(comparison, mix):
            numbers = len(table.columns) - 1
            head = [inline(column) for column in table.columns]
            lines += [inline(table.title), "", *markdown_lines(head, table.rows, numbers=numbers), ""]
    return "\n".join([*lines, *(f"- {inline(note)}" for note in comparison.notes)]).rstrip() + "\n"

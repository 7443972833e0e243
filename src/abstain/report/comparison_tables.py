"""The tables of two models, laid out once for the terminal, Markdown and the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from abstain.evaluation.runs import Difference, MixComparison, RunComparison
from abstain.evaluation.runs.run_comparison import signed
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
    kinds: tuple[tuple[str, str, Sequence[Difference]], ...] = (
        ("AURC-α × 100", "α", mix.aurc),
        ("Risk at the same coverage, %", "coverage", mix.risk),
        ("Coverage at the same risk, %", "risk", mix.coverage),
        (f"Coverage of {a} at the risk that {b} has at a coverage, %", "coverage", mix.coverage_at_risk_of_b),
        (f"Coverage of {b} at the risk that {a} has at a coverage, %", "coverage", mix.coverage_at_risk_of_a),
    )
    return [
        Table(title, (first, *columns), tuple(_cells(each) for each in found)) for title, first, found in kinds if found
    ]


def _cells(one: Difference) -> tuple[str, ...]:
    se = "–" if one.se is None else f"{100 * one.se:.2f}"
    interval = f"{signed(100 * one.low)} to {signed(100 * one.high)}"
    mark = "significant" if one.is_significant else ""
    return (
        f"{one.at:.4g}",
        f"{100 * one.a:.2f}",
        f"{100 * one.b:.2f}",
        signed(100 * one.difference),
        se,
        interval,
        mark,
    )


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

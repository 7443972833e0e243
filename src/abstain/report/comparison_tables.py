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
    columns = (a, b, f"{b} − {a}", "SE", f"{100 * comparison.level:g}% interval", "")
    of_a = f"Coverage of {a} at the risk that {b} has at a coverage, %"
    of_b = f"Coverage of {b} at the risk that {a} has at a coverage, %"
    at_b, at_a = mix.coverage_at_risk_of_b, mix.coverage_at_risk_of_a
    kinds = (
        ("AURC-α × 100", "α", [_cells(one) for one in mix.aurc]),
        ("Risk at the same coverage, %", "coverage", [_cells(one) for one in mix.risk]),
        ("Coverage at the same risk, %", "risk", [_cells(one, share=_share) for one in mix.coverage]),
    )
    gains = (
        (of_a, a, [_gain(one, one.a, (one.difference, one.low, one.high)) for one in at_b]),
        (of_b, b, [_gain(one, one.b, one.change) for one in at_a]),
    )
    more = ("more", "SE", columns[-2], "")
    tables = [Table(title, (first, *columns), tuple(rows)) for title, first, rows in kinds if rows]
    return tables + [Table(title, ("coverage", name, *more), tuple(rows)) for title, name, rows in gains if rows]


def _percent(value: float) -> str:
    return f"{100 * value:.2f}"


def _share(value: float) -> str:
    return "all" if value == 1 else _percent(value)


def _cells(one: Difference, *, share: Callable[[float], str] = _percent) -> tuple[str, ...]:
    """Both values and the change from the first to the second."""
    change, low, high = (100 * each for each in one.change)
    return (f"{one.at:.4g}", share(one.a), share(one.b), signed(change), _se(one), ends(low, high), _mark(one))


def _gain(one: Difference, value: float, more: tuple[float, float, float]) -> tuple[str, ...]:
    """The share that one accepts, and how many points more that is than the other's coverage; at most all rows."""
    gain, low, high = (100 * each for each in more)
    interval = ends(low, high, all_at=100 * (1 - one.at))
    return (f"{one.at:.4g}", _share(value), signed(gain), _se(one), interval, _mark(one))


def _se(one: Difference) -> str:
    return "–" if one.se is None else _percent(one.se)


def _mark(one: Difference) -> str:
    return "significant" if one.is_significant else ""


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

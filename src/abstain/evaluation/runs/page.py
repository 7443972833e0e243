"""Two models after rejection: tables for the terminal and Markdown, and one self-contained page."""

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace

from abstain._text import percent, total_of_outcomes
from abstain.evaluation.mixes import MIXES, mix_among
from abstain.evaluation.runs import MixComparison, RunComparison
from abstain.evaluation.runs.figure import comparison_figure
from abstain.evaluation.runs.run_words import ends, signed
from abstain.metrics.two_models import ModelDifference
from abstain.report.figures.save import picture_bytes
from abstain.report.page import Html, Section, TableCell, document, render, shortened, table
from abstain.report.tables import inline, markdown_lines


@dataclass(frozen=True)
class ComparisonTable:
    """A title, the names of its columns and its cells; all but the first column hold numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def comparison_tables(
    comparison: RunComparison, mix: MixComparison, /, *, names: tuple[str, str] | None = None
) -> list[ComparisonTable]:
    """AURC-α, risk at the same coverage, coverage at the same risk, and the coverage of each at the other's risk.

    ``names`` replace the names of the two models where these are too long.
    """
    a, b = names or comparison.names
    columns = (a, b, f"{b} − {a}", "SE", f"{100 * comparison.level:g}% interval", "")
    of_a = f"Coverage of {a} at the risk that {b} has at a coverage, %"
    of_b = f"Coverage of {b} at the risk that {a} has at a coverage, %"
    at_b, at_a = mix.coverage_at_risk_of_b, mix.coverage_at_risk_of_a
    kinds = (
        ("AURC-α × 100", "α", [_cells(difference, f"{difference.at:.4g}") for difference in mix.aurc]),
        ("Risk at the same coverage, %", "coverage", [_cells(each, percent(each.at)) for each in mix.risk]),
        ("Coverage at the same risk, %", "risk", [_cells(each, percent(each.at), _share) for each in mix.coverage]),
    )
    gains = (
        (of_a, a, [_gain(gain, gain.a, (gain.difference, gain.low, gain.high)) for gain in at_b]),
        (of_b, b, [_gain(gain, gain.b, gain.change) for gain in at_a]),
    )
    more = ("more", "SE", columns[-2], "")
    tables = [ComparisonTable(title, (first, *columns), tuple(rows)) for title, first, rows in kinds if rows]
    return tables + [
        ComparisonTable(title, ("coverage", name, *more), tuple(rows)) for title, name, rows in gains if rows
    ]


def _percent(value: float) -> str:
    return f"{100 * value:.2f}"


def _share(value: float) -> str:
    return "all" if value == 1 else _percent(value)


def _cells(difference: ModelDifference, at: str, share: Callable[[float], str] = _percent) -> tuple[str, ...]:
    """Where they are compared, both values and the change from the first to the second."""
    change, low, high = (100 * each for each in difference.change)
    return (
        at,
        share(difference.a),
        share(difference.b),
        signed(change),
        _se(difference),
        ends(low, high),
        _mark(difference),
    )


def _gain(difference: ModelDifference, value: float, more: tuple[float, float, float]) -> tuple[str, ...]:
    """The share that one model accepts, and by how many points it differs from the coverage of the other."""
    gain, low, high = (100 * each for each in more)
    interval = ends(low, high, all_at=100 * (1 - difference.at))
    return (percent(difference.at), _share(value), signed(gain), _se(difference), interval, _mark(difference))


def _se(difference: ModelDifference) -> str:
    return "–" if difference.se is None else _percent(difference.se)


def _mark(difference: ModelDifference) -> str:
    return "significant" if difference.is_significant else ""


def comparison_markdown(comparison: RunComparison, /) -> str:
    """The verdict and every table in Markdown."""
    a, b = (f"{name} ({score})" for name, score in zip(comparison.names, comparison.scores, strict=True))
    lines = [f"# {inline(a)} and {inline(b)}", "", inline(comparison.words()), ""]
    for mix in reversed(comparison.mixes):
        lines += [
            f"## {mix.mix}: {mix.n:,} rows, {total_of_outcomes(mix.errors_a)} and {total_of_outcomes(mix.errors_b)}",
            "",
        ]
        for each in comparison_tables(comparison, mix):
            numbers = len(each.columns) - 1
            head = [inline(column) for column in each.columns]
            lines += [inline(each.title), "", *markdown_lines(head, each.rows, numbers=numbers), ""]
    return "\n".join([*lines, *(f"- {inline(note)}" for note in comparison.notes)]).rstrip() + "\n"


def comparison_page(comparison: RunComparison, /) -> str:
    """The HTML of the page: the verdict, the curves and a table for each question by mix, and how it was computed."""
    whole, (a, b) = comparison.names, map(shortened, comparison.names)
    comparison = replace(comparison, names=(a, b))
    first, *rest = comparison.sentences()
    sections = [
        Section(
            name="verdict",
            title="Which is better after rejection",
            html=render("comparison_verdict.html", first=first, rest=" ".join(rest)),
        ),
        *(_mix(comparison, mix) for mix in reversed(comparison.mixes)),
        Section(name="how", title="How it was computed", html=_method(comparison, whole)),
    ]
    return document(f"{a} and {b}, compared", sections, subtitle=f"{comparison.mix().n:,} rows that both models have")


def _mix(comparison: RunComparison, mix: MixComparison) -> Section:
    a, b = comparison.names
    image = picture_bytes(comparison_figure(comparison, mixes=[mix.mix]), ".svg")
    html = render(
        "comparison_mix.html",
        words="" if mix is comparison.mix() else comparison.words(mix.mix),
        caption=f"Risk–coverage curves of {a} and {b}; below, {a} − {b} at the same coverage.",
        image=b64encode(image).decode(),
        tables=[
            table(
                each.columns,
                [[TableCell(cell) for cell in row] for row in each.rows],
                caption=each.title,
                numbers=range(1, len(each.columns)),
                sortable=False,
            )
            for each in comparison_tables(comparison, mix)
        ],
    )
    called = mix_among(mix.mix, [each.mix for each in comparison.mixes])
    title = called.title.removeprefix("+ ").capitalize()
    return Section(name=f"mix-{list(MIXES).index(mix.mix)}", title=title, html=html)


def _method(comparison: RunComparison, names: tuple[str, str]) -> Html:
    level = f"{100 * comparison.level:g}%"
    facts = [
        *((f"Rows, {mix.mix}", _counts(mix)) for mix in comparison.mixes),
        ("Intervals", f"{level}, paired: both models meet the same samples; a cluster of rows counts once."),
    ]
    scores = list(zip(comparison.scores, names, strict=True))
    return render("comparison_method.html", scores=scores, facts=facts, notes=comparison.notes)


def _counts(mix: MixComparison) -> str:
    return (
        f"{mix.n:,} of {mix.samples:,} samples; {total_of_outcomes(mix.errors_a)} and {total_of_outcomes(mix.errors_b)}"
    )

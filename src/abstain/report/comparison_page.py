"""Two models after rejection, as one self-contained page."""

from dataclasses import replace
from os import PathLike

from abstain.arguments import as_path
from abstain.evaluation.mixes import MIXES, mix_among
from abstain.evaluation.runs import MixComparison, RunComparison
from abstain.files import write_text
from abstain.report.comparison_tables import comparison_tables
from abstain.report.figures.comparison import comparison_figure
from abstain.report.page import Cell, Column, Section, document, name, passage, shortened, table, text
from abstain.report.page.picture import picture


def write_page(comparison: RunComparison, file: str | PathLike[str], /) -> None:
    """Write the page."""
    write_text(as_path("file", file), comparison_page(comparison))


def comparison_page(comparison: RunComparison, /) -> str:
    """The HTML of the page: the verdict, the curves and a table for each question by mix, and how it was computed."""
    whole, (a, b) = comparison.names, map(shortened, comparison.names)
    comparison = replace(comparison, names=(a, b))
    first, *rest = comparison.sentences()
    verdict = f'<p class="decision">{text(first)}</p><p class="lead">{text(" ".join(rest))}</p>'
    sections = [
        Section(name="verdict", title="Which is better after rejection", html=verdict),
        *(_mix(comparison, mix) for mix in reversed(comparison.mixes)),
        Section(name="how", title="How it was computed", html=_how(comparison, whole)),
    ]
    return document(f"{a} and {b}, compared", sections, subtitle=f"{comparison.mix().n:,} rows that both models have")


def _mix(comparison: RunComparison, mix: MixComparison) -> Section:
    a, b = comparison.names
    found = "" if mix is comparison.mix() else f"<p>{text(comparison.words(mix.mix))}</p>"
    words = f"Risk–coverage curves of {a} and {b}; below, {a} − {b} at the same coverage."
    curves = picture(comparison_figure(comparison, mixes=[mix.mix]), words=words)
    tables = [
        table(
            [Column(name, number=place > 0) for place, name in enumerate(each.columns)],
            [[Cell(text(cell)) for cell in row] for row in each.rows],
            caption=each.title,
            sortable=False,
        )
        for each in comparison_tables(comparison, mix)
    ]
    name, called = f"mix-{list(MIXES).index(mix.mix)}", mix_among(mix.mix, [each.mix for each in comparison.mixes])
    title = called.title.removeprefix("+ ").capitalize()
    return Section(name=name, title=title, html=found + curves + "".join(tables))


def _how(comparison: RunComparison, names: tuple[str, str]) -> str:
    scores = ", ".join(f"{text(score)} for {name(run)}" for score, run in zip(comparison.scores, names, strict=True))
    level = f"{100 * comparison.level:g}%"
    facts = [
        ("Scores", scores),
        *((f"Rows, {mix.mix}", _counts(mix)) for mix in comparison.mixes),
        ("Intervals", f"{level}, paired: both models meet the same samples; a cluster of rows counts once."),
    ]
    listed = "".join(f"<dt>{text(title)}</dt><dd>{html}</dd>" for title, html in facts)
    notes = "".join(f"<li>{passage(note)}</li>" for note in comparison.notes)
    return f'<dl class="facts">{listed}</dl>' + (f"<ul>{notes}</ul>" if notes else "")


def _counts(mix: MixComparison) -> str:
    return f"{mix.n:,} of {mix.samples:,} samples; {mix.errors_a:,} and {mix.errors_b:,} are wrong"

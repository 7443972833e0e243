"""`abstain compare`: two models, or two versions of one, on the same samples."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import typer

import abstain
from abstain._extras import require
from abstain._io.files import check_output_path, check_suffix, write_text
from abstain.cli.completion import score_or_best
from abstain.cli.inputs import unused_notes
from abstain.cli.options import ONE_SCORE, Figure, Level, Nonfinite
from abstain.cli.printing import Lines, Paragraph, Result, fits, small_table

if TYPE_CHECKING:
    from rich.table import Table

    from abstain.evaluation.runs.page import ComparisonTable

Writers = dict[Path, Callable[["abstain.RunComparison"], str]]
COVERAGES = (0.5, 0.8, 0.9, 1.0)


@final
@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """Scores, and the points at which the models are compared."""

    score: Annotated[
        str | None,
        typer.Option(help=f"The score of both models, or of A. {ONE_SCORE}", autocompletion=score_or_best),
    ] = None
    score_b: Annotated[
        str | None, typer.Option(help="The score of B, if it is another.", autocompletion=score_or_best)
    ] = None
    alpha: Annotated[list[float] | None, typer.Option(help="A coverage α of the area; repeat for several.")] = None
    coverage: Annotated[list[float] | None, typer.Option(help="A coverage at which to compare risks; repeat.")] = None
    risk: Annotated[list[float] | None, typer.Option(help="A risk at which to compare coverages; repeat.")] = None
    level: Level = 0.95
    nonfinite: Nonfinite = "error"
    seed: Annotated[int, typer.Option(help="Seed of the draw of rows to fit or choose scores on.")] = 0

    def compare(self, a: Path, b: Path, /) -> "abstain.RunComparison":
        """The comparison, with notes on columns that are not used."""
        from abstain.evaluation.runs import ComparisonPoints
        from abstain.metrics.intervals import ALPHAS

        comparison = abstain.compare_runs(
            *(abstain.Outputs.load(path, nonfinite=self.nonfinite) for path in (a, b)),
            score=(self.score, self.score if self.score_b is None else self.score_b),
            at=ComparisonPoints(alphas=self.alpha or ALPHAS, coverages=self.coverage or COVERAGES, risks=self.risk),
            names=_names(a, b),
            level=self.level,
            seed=self.seed,
        )
        pairs = zip(comparison.names, (a, b), strict=True)
        unused = [f"{name}: {note}" for name, run in pairs for note in unused_notes(run)]
        return replace(comparison, notes=(*comparison.notes, *unused))


@final
@dataclass(frozen=True, kw_only=True)
class ComparisonFiles:
    """Options that name files to write, None for none."""

    figure: Figure = None
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Write verdict and tables (.md), or the whole report (.html); repeat."),
    ] = None
    report: Annotated[Path | None, typer.Option(help="Write the report here (.html), one self-contained page.")] = None

    def writers(self) -> Writers:
        """What writes each file; what would stop it is raised before anything is computed."""
        from abstain.evaluation.runs.page import comparison_markdown, comparison_page
        from abstain.report.figures.save import check_figure

        check_figure(self.figure)
        kinds = {".md": comparison_markdown, ".html": comparison_page}
        if self.report is not None:
            check_suffix("--report", self.report, (".html", ".htm"))
        for file in self.output or ():
            check_suffix("--output", file, kinds)
        writers: Writers = {file: kinds[file.suffix.lower()] for file in self.output or ()}
        if self.report is not None:
            writers[self.report] = comparison_page
        if comparison_page in writers.values():
            require("matplotlib", extra="report", feature="The report")
        for file in writers:
            check_output_path(file)
        return writers

    def write(self, comparison: "abstain.RunComparison", writers: Writers, /) -> None:
        """Write them."""
        if self.figure is not None:
            from abstain.evaluation.runs.figure import comparison_figure
            from abstain.report.figures.save import save_figure

            save_figure(comparison_figure(comparison), self.figure)
        for file, text_of in writers.items():
            write_text(file, text_of(comparison))


def compare(
    a: Annotated[Path, typer.Argument(help="Outputs of one model, as for `abstain evaluate`.")],
    b: Annotated[Path, typer.Argument(help="Outputs of the other on the same samples.")],
    options: ComparisonOptions,
    files: ComparisonFiles,
    every: Annotated[bool, typer.Option("--all", help="Show every mix of shifts. [the widest]")] = False,
) -> Result:
    """Compare two models after rejection. They are compared at equal coverage and at equal risk.

    The models may be two versions of one. Samples are matched by ids. Differences are paired; rows with the same id
    count as one cluster.

    Example: abstain compare old/ new/ --score best --risk 0.02 --report compare.html
    """
    writers = files.writers()
    comparison = options.compare(a, b)
    files.write(comparison, writers)
    by_default = options.score is None and options.score_b is None
    return Result(comparison.to_dict(), _lines(comparison, every, by_default=by_default))


def _names(a: Path, b: Path) -> tuple[str, str]:
    """The shortest ends of the two paths that differ; with A and B where they are the same path."""
    first, second = a.resolve(), b.resolve()
    if first == second:
        return f"{first.name} (A)", f"{first.name} (B)"
    size = next(k for k in count(1) if first.parts[-k:] != second.parts[-k:])
    return str(Path(*first.parts[-size:])), str(Path(*second.parts[-size:]))


def _lines(comparison: "abstain.RunComparison", every: bool, *, by_default: bool) -> Lines:
    from abstain.evaluation.runs.page import comparison_tables
    from abstain.scores.registry import default_words

    yield Paragraph(comparison.words(), "bold")
    mixes = comparison.mixes if every else comparison.mixes[-1:]
    tables = [[*map(_drawn, comparison_tables(comparison, mix))] for mix in mixes]
    if not all(fits(table) for group in tables for table in group):
        yield f"A is {comparison.names[0]}, B is {comparison.names[1]}."
        tables = [[*map(_drawn, comparison_tables(comparison, mix, names=("A", "B")))] for mix in mixes]
    for mix, group in zip(mixes, tables, strict=True):
        if every and len(comparison.mixes) > 1:
            yield Paragraph(f"\n{mix.mix}: {mix.n:,} rows", "bold")
        yield from group
    a, b = comparison.scores
    scores = default_words(a) if by_default and a == b else f"Scores: {a} and {b}."
    yield from (Paragraph(note, "dim") for note in (scores, *comparison.notes))


def _drawn(table: "ComparisonTable") -> "Table":
    return small_table(table.columns, table.rows, title=table.title)

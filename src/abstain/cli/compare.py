"""`abstain compare`: two models, or two versions of one, on the same samples."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abstain.cli.complete import score_or_best
from abstain.cli.letters import shown
from abstain.cli.options import ONE_SCORE, Figure, Json, Nonfinite
from abstain.cli.show import print_json
from abstain.cli.unused_columns import unused_note

if TYPE_CHECKING:
    from abstain.evaluation.runs import RunComparison


def compare(
    a: Annotated[Path, typer.Argument(help="Outputs of one model, as for `abstain evaluate`.")],
    b: Annotated[Path, typer.Argument(help="Outputs of the other on the same samples.")],
    score: Annotated[
        str | None,
        typer.Option(help=f"The score to trust, of both or of A. {ONE_SCORE}", autocompletion=score_or_best),
    ] = None,
    score_b: Annotated[
        str | None, typer.Option(help="The score of B, if it is another.", autocompletion=score_or_best)
    ] = None,
    alpha: Annotated[list[float] | None, typer.Option(help="A coverage α of the area; repeat for several.")] = None,
    coverage: Annotated[list[float] | None, typer.Option(help="A coverage to compare risks at; repeat.")] = None,
    risk: Annotated[list[float] | None, typer.Option(help="A risk to compare coverages at; repeat.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every mix of shifts, not the widest alone.")] = False,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    figure: Figure = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", "-o", help="Write verdict and tables to a .md file, or all of it to an .html; repeat."
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a self-contained page here (.html).")] = None,
    nonfinite: Nonfinite = "error",
    seed: Annotated[int, typer.Option(help="Seed of the draw of rows to fit or choose scores on.")] = 0,
    json: Json = False,
) -> None:
    """Compare two models, or two versions of one, after rejection: at the same coverage and at the same risk.

    Samples are matched by ids. Differences are paired, and count a cluster of ids once.

    Example: abstain compare old/ new/ --score best --risk 0.02 --report compare.html
    """
    import abstain
    from abstain.files import write_text
    from abstain.metrics.intervals import ALPHAS
    from abstain.report.figures.save import check_figure, save_figure

    check_figure(figure)
    writers = _writers(output or [], report)
    runs = [abstain.Outputs.load(path, nonfinite=nonfinite) for path in (a, b)]  # type: ignore[arg-type]
    found = abstain.compare_runs(
        *runs,
        score=(score, score if score_b is None else score_b),
        alphas=alpha or ALPHAS,
        coverages=coverage or (0.5, 0.8, 0.9, 1.0),
        risks=risk,
        names=_names(a, b),
        level=level,
        seed=seed,
    )
    unused = [f"{name}: {note}" for name, run in zip(found.names, (a, b), strict=True) for note in unused_note(run)]
    found = replace(found, notes=(*found.notes, *unused))
    if figure is not None:
        from abstain.report.figures.comparison import comparison_figure

        save_figure(comparison_figure(found), figure)
    for goal, written in writers.items():
        write_text(goal, written(found))
    if json:
        print_json(found.to_dict())
        return
    _print(found, every, by_default=score is None and score_b is None)


def _writers(outputs: list[Path], report: Path | None) -> "dict[Path, Callable[[RunComparison], str]]":
    """What writes each file; what would stop it is known before anything is computed."""
    from abstain.extras import require
    from abstain.files import check_goal
    from abstain.report.comparison_page import comparison_page
    from abstain.report.comparison_tables import comparison_markdown

    kinds: dict[str, Callable[[RunComparison], str]] = {".md": comparison_markdown, ".html": comparison_page}
    if wrong := [goal.name for goal in outputs if goal.suffix.lower() not in kinds]:
        raise ValueError(f"`--output` must end in .md or .html, got {wrong[0]}.")
    found = {goal: kinds[goal.suffix.lower()] for goal in outputs} | (
        {} if report is None else {report: comparison_page}
    )
    if comparison_page in found.values():
        require("matplotlib", extra="report", feature="The page")
    for goal in found:
        check_goal(goal)
    return found


def _names(a: Path, b: Path) -> tuple[str, str]:
    """The last parts of each path that tell them apart; A and B where it is one path."""
    one, other = a.resolve(), b.resolve()
    if one == other:
        return f"{one.name} (A)", f"{one.name} (B)"
    size = next(k for k in count(1) if one.parts[-k:] != other.parts[-k:])
    return str(Path(*one.parts[-size:])), str(Path(*other.parts[-size:]))


def _print(found: "RunComparison", every: bool, *, by_default: bool) -> None:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from abstain.report.comparison_tables import comparison_tables
    from abstain.scores.default import default_words

    console = Console()
    console.print(shown(found.words()), style="bold", markup=False)
    for mix in found.mixes if every else found.mixes[-1:]:
        if every and len(found.mixes) > 1:
            console.print(shown(f"\n{mix.mix}: {mix.n:,} rows"), style="bold", markup=False)
        for each in comparison_tables(found, mix):
            title = escape(shown(each.title))
            table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title=title, title_justify="left")
            for place, name in enumerate(each.columns):
                table.add_column(escape(shown(name)), justify="right" if place else "left")
            for row in each.rows:
                table.add_row(*(escape(shown(cell)) for cell in row))
            console.print(table)
    same = by_default and found.scores[0] == found.scores[1]
    words = default_words(found.scores[0]) if same else f"Scores: {found.scores[0]} and {found.scores[1]}."
    console.print(shown(words), style="dim", markup=False)
    for note in found.notes:
        console.print(shown(note), style="dim", markup=False)

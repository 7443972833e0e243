"""`abstain evaluate`: which score to trust on saved outputs."""

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.complete import score_names
from abstain.cli.options import Figure, Json, Nonfinite
from abstain.cli.quick import import_numba_alone
from abstain.cli.show import print_further, print_json, print_summary, progress_bar


def evaluate(
    outputs: Annotated[Path, typer.Argument(help="A folder of outputs, an .npz file, or a .csv or .parquet table.")],
    score: Annotated[
        list[str] | None,
        typer.Option(
            help="A score to compare, such as knn or 'knn(k=5)'; repeat. All by default.", autocompletion=score_names
        ),
    ] = None,
    alpha: Annotated[list[float] | None, typer.Option(help="A coverage α; repeat for several.")] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Another metric, such as augrc or 'coverage_at_risk(risk=0.02)', or `all`; repeat."),
    ] = None,
    mix: Annotated[
        list[str] | None, typer.Option(help="Show in, in+cov, in+label or all; repeat. The widest by default.")
    ] = None,
    intervals: Annotated[bool, typer.Option("--intervals", help="Show the interval of every value.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Show every score in every mix.")] = False,
    fitting: Annotated[
        str, typer.Option(help="Outputs to fit scores on; or draw a `fifth`, or as the `paper` five per class.")
    ] = "fifth",
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    figure: Figure = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the table here in Markdown.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Write the table here in LaTeX.")] = None,
    nonfinite: Nonfinite = "error",
    seed: Annotated[int, typer.Option(help="Seed of the draw of rows to fit on.")] = 0,
    json: Json = False,
) -> None:
    """Compare scores on labelled outputs: which one to use, and AURC in every mix of shifts.

    Example: abstain evaluate run/ --score max_softmax --score 'knn(k=5)' --figure curves.pdf
    """
    from rich.console import Console

    import_numba_alone()
    import abstain
    from abstain.evaluation import summarize
    from abstain.files import check_goal, write_text
    from abstain.report.figures import risk_coverage_figure
    from abstain.report.save import check_figure, save_figure
    from abstain.report.tables import latex_table, markdown_table
    from abstain.scores.registry import split_names

    check_figure(figure)
    for goal in (markdown, latex):
        if goal is not None:
            check_goal(goal)
    with progress_bar() as progress:
        result = abstain.evaluate(
            abstain.Outputs.load(outputs, nonfinite=nonfinite),  # type: ignore[arg-type]
            scores=[name for names in score or ["all"] for name in split_names(names)],
            alphas=alpha or (0.1, 0.5, 1.0),
            metrics=metric or (),
            fitting=fitting if fitting in ("fifth", "paper") else abstain.Outputs.load(fitting, nonfinite=nonfinite),  # type: ignore[arg-type]
            level=level,
            seed=seed,
            progress=progress,
        )
    whole = summarize(result, mixes=result.mixes, shown=None)
    if figure is not None:
        save_figure(risk_coverage_figure(result), figure)
    if markdown is not None:
        write_text(markdown, markdown_table(whole))
    if latex is not None:
        write_text(latex, latex_table(whole))
    if json:
        print_json(result.to_dict())
        return
    console = Console()
    summary = whole if every else summarize(result, mixes=mix)
    print_summary(summary, console, intervals=intervals)
    if metric:
        print_further(result, summary, console, mixes=result.mixes if every else mix)

"""`abstain evaluate`: which score to trust on saved outputs."""

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.complete import nonfinite_words, score_names
from abstain.cli.show import print_evaluation, print_json, progress_bar


def evaluate(
    outputs: Annotated[
        Path, typer.Argument(help="A folder written by Outputs.save or the paper's script, or an .npz file.")
    ],
    score: Annotated[
        list[str] | None,
        typer.Option(help="A score to compare; repeat for several. All by default.", autocompletion=score_names),
    ] = None,
    alpha: Annotated[list[float] | None, typer.Option(help="A coverage α; repeat for several.")] = None,
    calibration: Annotated[Path | None, typer.Option(help="Separate outputs to fit scores on.")] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    figure: Annotated[Path | None, typer.Option(help="Write the risk–coverage curves here (.png, .pdf, .svg).")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the table here in Markdown.")] = None,
    nonfinite: Annotated[
        str,
        typer.Option(help="'error', or 'reject' to count NaN rows as rejected errors.", autocompletion=nonfinite_words),
    ] = "error",
    seed: Annotated[int, typer.Option(help="Seed of the draw of calibration rows.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Compare scores on labelled outputs: AURC with intervals, in every mix of shifts.

    Example: abstain evaluate run/ --score max_softmax --score confidence_margin --figure curves.pdf
    """
    from rich.console import Console

    import abstain
    from abstain.files import check_goal, write_text
    from abstain.report.figures import risk_coverage_figure
    from abstain.report.headline import headline
    from abstain.report.markdown import markdown_table
    from abstain.report.save import check_figure, save_figure

    check_figure(figure)
    if markdown is not None:
        check_goal(markdown)
    with progress_bar() as progress:
        result = abstain.evaluate(
            abstain.Outputs.load(outputs, nonfinite=nonfinite),  # type: ignore[arg-type]
            scores=score or "all",
            alphas=alpha or (0.1, 0.5, 1.0),
            calibration=None if calibration is None else abstain.Outputs.load(calibration, nonfinite=nonfinite),  # type: ignore[arg-type]
            level=level,
            seed=seed,
            progress=progress,
        )
    if figure is not None:
        save_figure(risk_coverage_figure(result), figure)
    if markdown is not None:
        write_text(markdown, markdown_table(result))
    if json:
        print_json(result.to_dict())
        return
    console = Console()
    print_evaluation(result, console)
    console.print(headline(result))

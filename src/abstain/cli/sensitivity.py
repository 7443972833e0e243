"""`abstain sensitivity`: how much softmax scores depend on the scale of the logits."""

from pathlib import Path
from typing import Annotated

import typer

import abstain
from abstain.cli.options import Figure, Nonfinite
from abstain.cli.printing import Lines, Result, small_table
from abstain.cli.progress import progress_bar

COLUMNS = ("score", "λ → 0", "λ = 0.1", "λ = 1", "λ = 10", "λ → ∞", "lowest", "highest")


def sensitivity(
    outputs: Annotated[Path, typer.Argument(help="Saved outputs, as for `abstain evaluate`.")],
    alpha: Annotated[float, typer.Option(help="The coverage α of the area.")] = 1.0,
    figure: Figure = None,
    nonfinite: Nonfinite = "error",
) -> Result:
    """Show how softmax scores depend on the scale of the logits. The scale λ changes no prediction, but their AURC.

    Example: abstain sensitivity run/ --figure scale.pdf
    """
    from abstain.evaluation.figures.scale import scale_figure
    from abstain.report.figures.save import check_figure, save_figure

    check_figure(figure)

    with progress_bar() as progress:
        run = abstain.Outputs.load(outputs, nonfinite=nonfinite)
        curves = abstain.scale_sensitivity(run, alpha=alpha, progress=progress)
    if figure is not None:
        save_figure(scale_figure(curves), figure)
    return Result(curves.to_dict(), _lines(curves))


def _lines(curves: "abstain.ScaleSensitivity") -> Lines:
    import numpy as np

    from abstain.evaluation.sensitivity import SOFTMAX_SCORES

    rows = []
    for score in SOFTMAX_SCORES:
        scales, areas = curves.curve(score.name)
        low, high = curves.limits(score.name)
        scaled = [areas[int(np.argmin(np.abs(np.log(scales) - np.log(scale))))] for scale in (0.1, 1.0, 10.0)]
        cells = [low, *scaled, high, min(low, high, *areas), max(low, high, *areas)]
        rows.append([score.name, *(f"{100 * cell:.2f}" for cell in cells)])
    yield small_table(COLUMNS, rows)
    yield f"- AURC × 100 over {curves.n} rows."
    yield "- Scaling the logits changes no prediction, but it changes the softmax scores."
    yield f"- confidence_margin is {100 * curves.margin:.2f} at every scale; all of them tend to it as λ → ∞."

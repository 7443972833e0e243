"""`abstain sensitivity`: how much softmax scores depend on the scale of the logits."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abstain.cli.letters import shown
from abstain.cli.options import Figure, Json, Nonfinite
from abstain.cli.show import print_json, progress_bar

if TYPE_CHECKING:
    from abstain.sensitivity import ScaleSensitivity


def sensitivity(
    outputs: Annotated[Path, typer.Argument(help="Saved outputs, as for `abstain evaluate`.")],
    alpha: Annotated[float, typer.Option(help="The coverage α of the area.")] = 1.0,
    figure: Figure = None,
    nonfinite: Nonfinite = "error",
    json: Json = False,
) -> None:
    """Show AURC of the softmax scores as the logits are scaled, which changes no prediction.

    Example: abstain sensitivity run/ --figure scale.pdf
    """
    import abstain
    from abstain.report.figures.save import check_figure, save_figure
    from abstain.report.figures.scale import scale_figure

    check_figure(figure)

    with progress_bar() as progress:
        run = abstain.Outputs.load(outputs, nonfinite=nonfinite)  # type: ignore[arg-type]
        found = abstain.scale_sensitivity(run, alpha=alpha, progress=progress)
    if figure is not None:
        save_figure(scale_figure(found), figure)
    if json:
        print_json(found.to_dict())
        return
    _print(found)


def _print(found: "ScaleSensitivity") -> None:
    import numpy as np
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from abstain.sensitivity import SOFTMAX_SCORES

    console = Console()
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("score", "λ → 0", "λ = 0.1", "λ = 1", "λ = 10", "λ → ∞", "lowest", "highest"):
        table.add_column(shown(heading), no_wrap=True, justify="left" if heading == "score" else "right")
    for score in SOFTMAX_SCORES:
        scales, areas = found.curve(score.name)
        low, high = found.limits(score.name)
        scaled = [areas[int(np.argmin(np.abs(np.log(scales) - np.log(scale))))] for scale in (0.1, 1.0, 10.0)]
        cells = [low, *scaled, high, min(low, high, *areas), max(low, high, *areas)]
        table.add_row(score.name, *(f"{100 * cell:.2f}" for cell in cells))
    console.print(table)
    words = (
        f"AURC × 100 over {found.n} rows. Scaling the logits changes no prediction, yet it moves the softmax scores; "
        f"confidence_margin is {100 * found.margin:.2f} at any scale, where they all tend as λ → ∞."
    )
    console.print(shown(words))

"""`abstain sensitivity`: how much softmax scores depend on the scale of the logits."""

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.show import print_json


def sensitivity(
    outputs: Annotated[Path, typer.Argument(help="Saved outputs, as for `abstain evaluate`.")],
    alpha: Annotated[float, typer.Option(help="The coverage α of the area.")] = 1.0,
    figure: Annotated[Path | None, typer.Option(help="Write the curves here (.png, .pdf, .svg).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Show AURC of the softmax scores as the logits are scaled, which changes no prediction."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    import abstain
    from abstain.report.scale_figure import scale_figure
    from abstain.sensitivity import SOFTMAX_SCORES

    found = abstain.scale_sensitivity(abstain.Outputs.load(outputs), alpha=alpha)
    if figure is not None:
        scale_figure(found).savefig(figure)
    if json:
        print_json(found.to_dict())
        return
    console = Console()
    table = Table("score", "λ → 0", "λ = 0.1", "λ = 1", "λ = 10", "λ → ∞", "range", box=box.SIMPLE_HEAD)
    for score in SOFTMAX_SCORES:
        scales, areas = found.curve(score.name)
        shown = [areas[min(range(len(scales)), key=lambda i, s=s: abs(scales[i] - s))] for s in (0.1, 1.0, 10.0)]  # type: ignore[misc]
        low, high = found.limits(score.name)
        every = [low, *areas, high]
        cells = [low, *shown, high]
        table.add_row(score.name, *(f"{100 * c:.2f}" for c in cells), f"{100 * min(every):.2f}–{100 * max(every):.2f}")
    console.print(table)
    console.print(
        f"AURC × 100 over {found.n} rows. Scaling the logits changes no prediction, yet it moves the softmax scores; "
        f"confidence_margin is {100 * found.margin:.2f} at any scale, where they all tend as λ → ∞."
    )

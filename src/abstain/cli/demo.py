"""`abstain demo`: evaluate the example that ships with abstain."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abstain._errors import FileConflictError
from abstain.cli.evaluation_view import print_calibration
from abstain.cli.options import Json
from abstain.cli.printing import command_line, print_json
from abstain.cli.progress import progress_bar
from abstain.cli.summary_table import print_summary
from abstain.cli.terminal import shown

if TYPE_CHECKING:
    from abstain.evaluation import Evaluation
    from abstain.outputs import Outputs

STORY = (
    "A small network learned the handwritten digits 0–7. It now sees clean test digits (in), noisy, blurred, tilted "
    "and faded ones (cov), and 8s and 9s, which it does not know (label). Which score shows when it is wrong?"
)


def demo(
    folder: Annotated[Path, typer.Option(help="Where to write the outputs and the figure.")] = Path("abstain-demo"),
    retrain: Annotated[
        bool,
        typer.Option(
            "--retrain",
            help="Train a network on this machine instead of reading the outputs that ship with abstain. Its results "
            "differ from theirs, and slightly from machine to machine.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the draws, and of the training with --retrain.")] = 0,
    json: Json = False,
) -> None:
    """Evaluate the example that ships with abstain. A network that knows digits 0–7 sees corrupted ones, 8s and 9s.

    The outputs of the network ship with abstain, so that the numbers are the same on every machine.

    Example: abstain demo --folder abstain-demo
    """
    from abstain._extras import require_all

    require_all({"matplotlib": "report"} | ({"sklearn": "sklearn"} if retrain else {}), feature="The demo")

    from abstain import datasets

    if folder.exists() and not folder.is_dir():
        raise FileConflictError(f"`--folder` must be a folder, got the file {folder}. Choose another name.")
    outputs = _retrained(seed) if retrain else datasets.digits()
    outputs.save(folder / "outputs")
    _print(_evaluate(outputs, folder, seed), folder, json=json)


def _retrained(seed: int) -> "Outputs":
    from abstain.datasets.digits_network import train_digits

    with progress_bar() as progress:
        progress("Training a network on digits 0–7", 0.0)
        return train_digits(seed=seed)


def _evaluate(outputs: "Outputs", folder: Path, seed: int) -> "Evaluation":
    """All scores compared, and their curves in the folder."""
    import abstain
    from abstain._kernels.background import compiling_in_background
    from abstain.evaluation.figures.risk_coverage import risk_coverage_figure
    from abstain.report.figures.save import save_figure

    with compiling_in_background(), progress_bar() as progress:
        evaluation = abstain.evaluate(outputs, fitting=abstain.FittingDraw(seed=seed), progress=progress)
        progress("Drawing", 1.0)
        save_figure(risk_coverage_figure(evaluation), folder / "risk-coverage.png")
    return evaluation


def _print(evaluation: "Evaluation", folder: Path, *, json: bool) -> None:
    from rich.console import Console

    from abstain.evaluation import summarize

    outputs, figure = folder / "outputs", folder / "risk-coverage.png"
    if json:
        print_json(evaluation.to_dict() | {"outputs": str(outputs), "figure": str(figure)})
        return
    console = Console()
    console.print(shown(STORY))
    summary = summarize(evaluation)
    print_summary(summary, console)
    print(shown(f"\nRisk–coverage curves: {figure}"))
    print(shown(f"Every mix of shifts:  {command_line('evaluate', outputs, '--all')}"))
    print_calibration(evaluation, str(outputs), summary.verdict.score, f"{folder.name}.abstain", console)

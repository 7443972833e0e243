"""`abstain demo`: the whole story on real data."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.show import print_json, print_summary, progress_bar


def demo(
    folder: Annotated[Path, typer.Option(help="Where to write the outputs and the figure.")] = Path("abstain-demo"),
    seed: Annotated[int, typer.Option(help="Seed of the training and the corruptions.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Train a small network on digits 0–7, show it corrupted digits and 8s and 9s, and ask which score knows.

    Example: abstain demo --folder abstain-demo
    """
    from rich.console import Console

    from abstain.extras import require_all

    require_all({"sklearn": "sklearn", "matplotlib": "report"}, feature="The demo")

    import abstain
    from abstain.evaluation import summarize
    from abstain.experiments.digits import digits
    from abstain.report.figures import risk_coverage_figure
    from abstain.report.save import save_figure

    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"`--folder` must be a folder, got the file {folder}.")
    with progress_bar() as progress:
        progress("Training a network on digits 0–7", 0.0)
        outputs = digits(seed=seed)
        evaluation = abstain.evaluate(outputs, seed=seed, progress=progress)
        progress("Drawing", 1.0)
        outputs.save(folder / "outputs")
        save_figure(risk_coverage_figure(evaluation), folder / "risk-coverage.png")
    if json:
        print_json(
            evaluation.to_dict() | {"outputs": str(folder / "outputs"), "figure": str(folder / "risk-coverage.png")}
        )
        return
    console = Console()
    console.print(
        "A small network learned the handwritten digits 0–7. It now meets clean test digits (in), noisy, blurred, "
        "tilted and faded ones (cov), and 8s and 9s, which it cannot know (label). Which score tells when it is wrong?"
    )
    print_summary(summarize(evaluation), console)
    print(f"\nRisk–coverage curves: {folder / 'risk-coverage.png'}")
    print(f"Every mix of shifts:  abstain evaluate {shlex.quote(str(folder / 'outputs'))} --all")
    print(
        f"or, for a promise:    abstain calibrate {shlex.quote(str(folder / 'outputs'))} --risk 0.1 -o digits.abstain"
    )

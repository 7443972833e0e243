"""`abstain reproduce`: an experiment, from its data to its table and figure."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.complete import experiment_names
from abstain.cli.show import print_json, print_summary, progress_bar, sample_bar
from abstain.names import check_name


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="The experiment; without one they are listed.", autocompletion=experiment_names)
    ] = None,
    folder: Annotated[Path, typer.Option(help="Where to write, a folder an experiment.")] = Path("abstain-experiments"),
    seed: Annotated[int, typer.Option(help="Seed of the experiment.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Run an experiment: collect its outputs, compare all scores, draw the curves.

    Example: abstain reproduce digits
    """
    from rich.console import Console

    import abstain
    from abstain.evaluation import summarize
    from abstain.experiments.registry import EXPERIMENTS
    from abstain.report.figures import risk_coverage_figure
    from abstain.report.save import check_figure, save_figure

    if name is None and json:
        print_json({"experiments": [{"name": each.name, "title": each.title} for each in EXPERIMENTS.values()]})
        return
    if name is None:
        for experiment in EXPERIMENTS.values():
            print(f"{experiment.name:14}{experiment.title}")
        return
    there = f"There are {', '.join(EXPERIMENTS)}."
    check_name("name", name, EXPERIMENTS, rule="be an experiment", otherwise=there)
    place = folder / name
    check_figure(place / "risk-coverage.png")
    with sample_bar() as progress:
        outputs = EXPERIMENTS[name].run(place / "outputs", seed, progress)
    with progress_bar() as evaluation_progress:
        evaluation = abstain.evaluate(outputs, seed=seed, progress=evaluation_progress)
        save_figure(risk_coverage_figure(evaluation), place / "risk-coverage.png")
    if json:
        print_json(
            evaluation.to_dict() | {"outputs": str(place / "outputs"), "figure": str(place / "risk-coverage.png")}
        )
        return
    console = Console()
    console.print(EXPERIMENTS[name].title, style="bold")
    print_summary(summarize(evaluation), console)
    print(f"\nRisk–coverage curves: {place / 'risk-coverage.png'}")
    print(f"Go on with:           abstain evaluate {shlex.quote(str(place / 'outputs'))}")

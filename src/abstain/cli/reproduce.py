"""`abstain reproduce`: an experiment, from its data to its table and figure."""

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.complete import experiment_names
from abstain.cli.evaluated import evaluated, tell
from abstain.cli.options import Json
from abstain.cli.show import print_json, sample_bar
from abstain.names import check_name


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="The experiment; without one they are listed.", autocompletion=experiment_names)
    ] = None,
    folder: Annotated[Path, typer.Option(help="Where to write, a folder per experiment.")] = Path(
        "abstain-experiments"
    ),
    seed: Annotated[int, typer.Option(help="Seed of the experiment.")] = 0,
    json: Json = False,
) -> None:
    """Run an experiment: collect its outputs, compare all scores, draw the curves.

    Example: abstain reproduce digits
    """
    from abstain.experiments.registry import EXPERIMENTS
    from abstain.extras import require

    if name is None and json:
        print_json({"experiments": [{"name": each.name, "title": each.title} for each in EXPERIMENTS.values()]})
        return
    if name is None:
        for experiment in EXPERIMENTS.values():
            print(f"{experiment.name:14}{experiment.title}")
        return
    there = f"There are {', '.join(EXPERIMENTS)}."
    check_name("name", name, EXPERIMENTS, rule="be an experiment", otherwise=there)
    require("matplotlib", extra="report", feature="The figure of an experiment")
    place = folder / name
    with sample_bar() as progress:
        outputs = EXPERIMENTS[name].run(place / "outputs", seed, progress)
    evaluation = evaluated(outputs, place, seed=seed, fitting="paper")
    tell(evaluation, place, words=EXPERIMENTS[name].title, json=json)

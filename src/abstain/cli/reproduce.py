"""`abstain reproduce`: an experiment, from its data to its figures, tables and verdicts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli.complete import experiment_names
from abstain.cli.options import Json
from abstain.cli.show import print_json, sample_bar
from abstain.names import check_name

if TYPE_CHECKING:
    from abstain.experiments.experiment import Experiment
    from abstain.experiments.findings import Findings

CLAIMS = "claims"
MARKS = {"held": "green", "not held": "red", "undecided": "yellow"}


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            help="The experiment; without one they are listed. 'claims' collects what all of them found.",
            autocompletion=experiment_names,
        ),
    ] = None,
    folder: Annotated[Path, typer.Option(help="Where to write, a folder per experiment.")] = Path(
        "abstain-experiments"
    ),
    seed: Annotated[int, typer.Option(help="Seed of the experiment.")] = 0,
    data: Annotated[Path | None, typer.Option(help="Folder with data that no package brings.")] = None,
    limit: Annotated[int | None, typer.Option(help="At most this many samples of each part.", min=1)] = None,
    model: Annotated[str | None, typer.Option(help="A model the experiment knows, or one as collect takes it.")] = None,
    seeds: Annotated[int | None, typer.Option(help="How many times to repeat it.", min=1)] = None,
    paper_code: Annotated[bool, typer.Option("--paper-code", help="Conventions of the authors' code.")] = False,
    long: Annotated[bool, typer.Option("--long", help="The long version.")] = False,
    json: Json = False,
) -> None:
    """Run an experiment: figures, tables, and what it found about the claims of the paper.

    Example: abstain reproduce digits
    """
    from abstain.experiments.experiment import Setting
    from abstain.experiments.page import write_findings
    from abstain.experiments.registry import EXPERIMENTS
    from abstain.extras import require

    if name is None:
        _list(list(EXPERIMENTS.values()), json=json)
        return
    if name == CLAIMS:
        _collect_claims(folder, json=json)
        return
    there = f"There are {', '.join(EXPERIMENTS)}."
    check_name("name", name, (*EXPERIMENTS, CLAIMS), rule="be an experiment", otherwise=there)
    experiment = EXPERIMENTS[name]
    options: dict[str, Any] = {
        "data": data,
        "limit": limit,
        "model": model,
        "seeds": seeds,
        "paper_code": paper_code,
        "long": long,
    }
    _check_options(experiment, options)
    require("matplotlib", extra="report", feature="The figures of an experiment")
    with sample_bar("Working") as progress:
        findings = experiment.run(Setting(folder=folder / name, seed=seed, progress=progress, **options))
    files = write_findings(findings, experiment.title, folder / name)
    _tell(findings, files, json=json)


def _list(experiments: "list[Experiment]", *, json: bool) -> None:
    if json:
        print_json({"experiments": [{"name": each.name, "title": each.title} for each in experiments]})
        return
    for each in experiments:
        print(f"{each.name:18}{each.title}")


def _collect_claims(folder: Path, *, json: bool) -> None:
    from abstain.experiments.page import claims_page
    from abstain.files import write_text

    if not folder.is_dir():
        raise FileNotFoundError(f"`--folder` must hold experiments, got no folder {folder}. Run one first.")
    file = folder / "claims.md"
    write_text(file, claims_page(folder))
    print_json({"page": str(file)}) if json else print(f"All claims: {file}")


def _check_options(experiment: "Experiment", options: dict[str, Any]) -> None:
    """What an experiment does not take is an error, not silence."""
    for option, value in options.items():
        if value not in (None, False) and option not in experiment.takes:
            flags = ", ".join(f"--{one.replace('_', '-')}" for one in sorted(experiment.takes)) or "no such options"
            raise ValueError(
                f"`--{option.replace('_', '-')}` must be left out for {experiment.name}, which takes {flags}."
            )


def _tell(findings: "Findings", files: list[Path], *, json: bool) -> None:
    from dataclasses import asdict

    from rich.console import Console
    from rich.markup import escape

    from abstain.cli.letters import shown
    from abstain.cli.show import print_summary
    from abstain.evaluation import summarize
    from abstain.experiments.claims import CLAIMS as TEXTS

    if json:
        verdicts = [asdict(verdict) for verdict in findings.verdicts]
        print_json({"words": findings.words, "verdicts": verdicts, "files": list(map(str, files))} | findings.numbers)
        return
    console = Console()
    if findings.evaluation is not None:
        print_summary(summarize(findings.evaluation), console)
    console.print(escape(shown(findings.words)))
    for verdict in findings.verdicts:
        colour, claim = MARKS[verdict.outcome], TEXTS[verdict.claim]
        console.print(
            shown(f"\n[{colour}]{verdict.outcome}[/{colour}]: {escape(claim.text)} [dim]({claim.place})[/dim]")
        )
        console.print(shown(f"  {escape(verdict.evidence.rstrip('.'))}. [dim]On {escape(verdict.data)}.[/dim]"))
    print(f"\nTables, numbers and figures: {files[0].parent}")

"""`abstain reproduce`: an experiment, from its data to its figures, tables and verdicts."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli.collect import Amp, Part, Workers
from abstain.cli.complete import experiment_names
from abstain.cli.options import Json
from abstain.cli.show import print_json, sample_bar
from abstain.names import check_name

if TYPE_CHECKING:
    from rich.console import Console

    from abstain.experiments.claims import Verdict
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
    seed: Annotated[int, typer.Option(min=0, help="Seed of the experiment.")] = 0,
    data: Annotated[Path | None, typer.Option(help="Folder with data that no package brings.")] = None,
    limit: Annotated[int | None, typer.Option(help="At most this many samples of each part.", min=1)] = None,
    model: Annotated[str | None, typer.Option(help="A model the experiment knows, or one as collect takes it.")] = None,
    seeds: Annotated[int | None, typer.Option(help="How many times to repeat it.", min=1)] = None,
    batch_size: Annotated[int | None, typer.Option(help="Samples per batch. [the experiment's own]", min=1)] = None,
    workers: Workers = 0,
    device: Annotated[str | None, typer.Option(help="Where the model runs. [cuda where there is one]")] = None,
    amp: Amp = False,
    part: Part = None,
    paper_code: Annotated[bool, typer.Option("--paper-code", help="Conventions of the authors' code.")] = False,
    long: Annotated[bool, typer.Option("--long", help="The long version.")] = False,
    run: Annotated[
        bool, typer.Option("--run", help="With 'claims': first run what has not been run, or not by this code.")
    ] = False,
    docs: Annotated[
        Path | None, typer.Option(help="With 'claims': write the pages of the documentation in this folder.")
    ] = None,
    json: Json = False,
) -> None:
    """Run an experiment: figures, tables, and what it found about the claims of the paper.

    Example: abstain reproduce digits
    """
    from dataclasses import replace

    from abstain.experiments.experiment import Setting
    from abstain.experiments.page import write_findings
    from abstain.experiments.registry import EXPERIMENTS
    from abstain.extras import require

    if name is None:
        _list(list(EXPERIMENTS.values()), json=json)
        return
    options: dict[str, Any] = {
        "data": data,
        "limit": limit,
        "model": model,
        "seeds": seeds,
        "paper_code": paper_code,
        "long": long,
        "batch_size": batch_size,
        "workers": workers,
        "device": device,
        "amp": amp,
        "part": part,
    }
    if name == CLAIMS:
        _check_options(CLAIMS, frozenset({"long"}) if run else frozenset(), options)
        if run:
            _run_all(folder, long=long)
        _collect_claims(folder, docs, json=json)
        return
    if run or docs is not None:
        raise ValueError(f"`{'--run' if run else '--docs'}` must be left out for {name}: it is for {CLAIMS}.")
    there = f"There are {', '.join(EXPERIMENTS)}."
    check_name("name", name, (*EXPERIMENTS, CLAIMS), rule="be an experiment", otherwise=there)
    experiment = EXPERIMENTS[name]
    _check_options(name, experiment.takes, options)
    require("matplotlib", extra="report", feature="The figures of an experiment")
    setting = Setting(folder=folder, seed=seed, **options)
    place = experiment.place(setting)  # another model, or the long version, stands beside this one
    with _brought_by(name), sample_bar("Working") as progress:
        findings = experiment.run(replace(setting, folder=place, progress=progress))
    if findings is None:
        message = f"Part {part} is done; other parts are missing. The last one writes the findings."
        print_json({"part": part, "files": []}) if json else print(message)
        return
    files = write_findings(findings, experiment.title, place)
    _tell(findings, files, json=json)


def _list(experiments: "list[Experiment]", *, json: bool) -> None:
    if json:
        print_json({"experiments": [{"name": each.name, "title": each.title} for each in experiments]})
        return
    for each in experiments:
        print(f"{each.name:18}{each.title}")


@contextmanager
def _brought_by(name: str) -> Iterator[None]:
    """Say which command brings a package that is missing."""
    from abstain.experiments.packages import MissingPackageError

    try:
        yield
    except MissingPackageError as missing:
        raise FileNotFoundError(f"{missing} `scripts/reproduce {name}` brings what the experiment reads.") from None


def _run_all(folder: Path, *, long: bool) -> None:
    from abstain.experiments.every import run_all
    from abstain.extras import require

    require("matplotlib", extra="report", feature="The figures of an experiment")
    folder.mkdir(parents=True, exist_ok=True)
    with _brought_by(f"{CLAIMS} --run"):
        for name, is_new in run_all(folder, long=long):
            print(f"{name}: {'run' if is_new else 'as it was'}", file=sys.stderr)


def _collect_claims(folder: Path, docs: Path | None, *, json: bool) -> None:
    from abstain.experiments.overview import write_overview
    from abstain.experiments.page import claims_page
    from abstain.files import write_text

    if not folder.is_dir():
        raise FileNotFoundError(f"`--folder` must hold experiments, got no folder {folder}. Run one first.")
    file, page = folder / "claims.md", claims_page(folder)
    write_text(file, page)
    if docs is not None:
        write_overview(folder, docs)
    counted = page.split("\n\n")[1]
    print_json({"page": str(file), "words": counted}) if json else print(f"{counted}\nAll claims: {file}")


def _check_options(name: str, takes: frozenset[str], options: dict[str, Any]) -> None:
    """What an experiment does not take is an error, not silence."""
    for option, value in options.items():
        if value not in (None, False, 0) and option not in takes:
            flags = ", ".join(f"--{one.replace('_', '-')}" for one in sorted(takes)) or "none"
            raise ValueError(f"`--{option.replace('_', '-')}` must be left out for {name}, which takes {flags}.")


def _tell(findings: "Findings", files: list[Path], *, json: bool) -> None:
    from dataclasses import asdict

    from rich.console import Console
    from rich.markup import escape

    from abstain.cli.letters import shown
    from abstain.cli.show import print_table
    from abstain.evaluation import summarize

    if json:
        verdicts = [asdict(verdict) for verdict in findings.verdicts]
        print_json({"words": findings.words, "verdicts": verdicts, "files": list(map(str, files))} | findings.numbers)
        return
    console = Console()
    console.print(escape(shown(findings.words)), style="bold")
    if findings.evaluation is not None:
        print_table(summarize(findings.evaluation), console, rest=f"{files[0]} has them")
    for claim in dict.fromkeys(verdict.claim for verdict in findings.verdicts):
        _tell_claim([verdict for verdict in findings.verdicts if verdict.claim == claim], console)
    print(f"\nTables, numbers and figures: {files[0].parent}")


def _tell_claim(verdicts: "list[Verdict]", console: "Console") -> None:
    """A claim with its evidence, or, where it was tested several times, on what it held and on what not."""
    from rich.markup import escape

    from abstain.cli.letters import shown
    from abstain.experiments.claims import CLAIMS as TEXTS

    claim, outcomes = TEXTS[verdicts[0].claim], [verdict.outcome for verdict in verdicts]
    counted = [
        f"[{colour}]{outcome}[/{colour}]"
        + (f" {outcomes.count(outcome)} of {len(outcomes)}" if len(outcomes) > 1 else "")
        for outcome, colour in MARKS.items()
        if outcome in outcomes
    ]
    console.print(shown(f"\n{', '.join(counted)}: {escape(claim.text)} [dim]({claim.place})[/dim]"))
    if len(verdicts) == 1:
        evidence, data = verdicts[0].evidence.rstrip("."), verdicts[0].data
        console.print(shown(f"  {escape(evidence)}. [dim]Tested on: {escape(data)}.[/dim]"))
        return
    for outcome in [outcome for outcome in MARKS if outcome in outcomes]:
        data = "; ".join(verdict.data for verdict in verdicts if verdict.outcome == outcome)
        console.print(shown(f"  [dim]{outcome} on: {escape(data)}[/dim]"))

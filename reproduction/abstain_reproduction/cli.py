"""`abstain reproduce`: an experiment, from its data to its figures, tables and verdicts."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain._errors import InvalidInputError, MissingFileError
from abstain._names import check_name
from abstain.cli.collect import Amp, Part, Workers
from abstain.cli.commands import HelpCommand, Json
from abstain.cli.printing import print_json, show
from abstain.cli.progress import sample_bar

if TYPE_CHECKING:
    from rich.console import Console

    from abstain_reproduction.claims import ClaimVerdict
    from abstain_reproduction.experiment import Experiment
    from abstain_reproduction.findings import Findings

CLAIMS = "claims"
MARKS = {"held": "green", "not held": "red", "undecided": "yellow"}


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(cls=HelpCommand)
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            help="The experiment; without one they are listed. 'claims' collects what all of them found.",
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

    from abstain._extras import require
    from abstain_reproduction.experiment import Setting
    from abstain_reproduction.page import write_findings
    from abstain_reproduction.registry import EXPERIMENTS

    if name is None:
        _print_experiments(list(EXPERIMENTS.values()), json=json)
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
        flag = "--run" if run else "--docs"
        raise InvalidInputError(f"`{flag}` must be left out for {name}, got it. Only {CLAIMS} takes it.")
    there = f"There are {', '.join(EXPERIMENTS)}."
    check_name("name", name, (*EXPERIMENTS, CLAIMS), rule="be an experiment", otherwise=there)
    experiment = EXPERIMENTS[name]
    _check_options(name, experiment.takes, options)
    require("matplotlib", extra="report", feature="The figures of an experiment")
    setting = Setting(folder=folder, seed=seed, **options)
    run_folder = experiment.run_folder(setting)  # another model, or the long version, stands beside this one
    with _naming_the_command(name), sample_bar("Working") as progress:
        findings = experiment.run(replace(setting, folder=run_folder, progress=progress))
    if findings is None:
        message = f"Part {part} is done; other parts are missing. The last one writes the findings."
        print_json({"part": part, "files": []}) if json else print(message)
        return
    files = write_findings(findings, experiment.title, run_folder)
    _print_findings(findings, files, json=json)


def _print_experiments(experiments: "list[Experiment]", *, json: bool) -> None:
    if json:
        print_json({"experiments": [{"name": each.name, "title": each.title} for each in experiments]})
        return
    for each in experiments:
        print(f"{each.name:18}{each.title}")


@contextmanager
def _naming_the_command(name: str) -> Iterator[None]:
    """Add the command that fetches a missing package to its error."""
    from abstain_reproduction.packages import MissingPackageError

    try:
        yield
    except MissingPackageError as missing:
        raise MissingFileError(f"{missing} `scripts/reproduce {name}` fetches what the experiment reads.") from None


def _run_all(folder: Path, *, long: bool) -> None:
    from abstain._extras import require
    from abstain_reproduction.claim_runs import run_all

    require("matplotlib", extra="report", feature="The figures of an experiment")
    folder.mkdir(parents=True, exist_ok=True)
    with _naming_the_command(f"{CLAIMS} --run"):
        for name, is_new in run_all(folder, long=long):
            print(f"{name}: {'run' if is_new else 'as it was'}", file=sys.stderr)


def _collect_claims(folder: Path, docs: Path | None, *, json: bool) -> None:
    from abstain._io.files import write_text
    from abstain_reproduction.overview import write_overview
    from abstain_reproduction.page import claims_page

    if not folder.is_dir():
        raise MissingFileError(f"`--folder` must have findings, got no folder {folder}. Run an experiment first.")
    file, page = folder / "claims.md", claims_page(folder)
    write_text(file, page)
    if docs is not None:
        write_overview(folder, docs)
    counted = page.split("\n\n")[1]
    print_json({"page": str(file), "words": counted}) if json else print(f"{counted}\nAll claims: {file}")


def _check_options(name: str, takes: frozenset[str], options: dict[str, Any]) -> None:
    """Refuse options that an experiment does not take."""
    for option, value in options.items():
        if value not in (None, False, 0) and option not in takes:
            flags = ", ".join(f"--{flag.replace('_', '-')}" for flag in sorted(takes)) or "none"
            flag = f"--{option.replace('_', '-')}"
            raise InvalidInputError(f"`{flag}` must be left out for {name}, got {value}. It takes {flags}.")


def _print_findings(findings: "Findings", files: list[Path], *, json: bool) -> None:
    from dataclasses import asdict

    from rich.console import Console
    from rich.markup import escape

    from abstain.cli.summary_table import table_lines
    from abstain.cli.terminal import shown
    from abstain.evaluation import summarize

    if json:
        verdicts = [asdict(verdict) for verdict in findings.verdicts]
        print_json({"words": findings.words, "verdicts": verdicts, "files": list(map(str, files))} | findings.numbers)
        return
    console = Console()
    console.print(escape(shown(findings.words)), style="bold")
    if findings.evaluation is not None:
        for line in table_lines(summarize(findings.evaluation), rest=f"{files[0]} has them"):
            show(line)
    for claim in dict.fromkeys(verdict.claim for verdict in findings.verdicts):
        _print_claim([verdict for verdict in findings.verdicts if verdict.claim == claim], console)
    print(f"\nTables, numbers and figures: {files[0].parent}")


def _print_claim(verdicts: "list[ClaimVerdict]", console: "Console") -> None:
    """A claim with its evidence, or, where it was tested several times, on what it held and on what not."""
    from rich.markup import escape

    from abstain.cli.terminal import shown
    from abstain_reproduction.claims import CLAIMS as TEXTS

    claim, outcomes = TEXTS[verdicts[0].claim], [verdict.outcome for verdict in verdicts]
    counted = [
        f"[{colour}]{outcome}[/{colour}]"
        + (f" {outcomes.count(outcome)} of {len(outcomes)}" if len(outcomes) > 1 else "")
        for outcome, colour in MARKS.items()
        if outcome in outcomes
    ]
    console.print(shown(f"\n{', '.join(counted)}: {escape(claim.text)} [dim]({claim.source})[/dim]"))
    if len(verdicts) == 1:
        evidence, data = verdicts[0].evidence.rstrip("."), verdicts[0].data
        console.print(shown(f"  {escape(evidence)}. [dim]Tested on: {escape(data)}.[/dim]"))
        return
    for outcome in [outcome for outcome in MARKS if outcome in outcomes]:
        data = "; ".join(verdict.data for verdict in verdicts if verdict.outcome == outcome)
        console.print(shown(f"  [dim]{outcome} on: {escape(data)}[/dim]"))

"""Options that several commands share, and groups of options that one dataclass holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, final

import typer

import abstain
from abstain._errors import InvalidInputError
from abstain.cli.completion import engine_names

if TYPE_CHECKING:
    from abstain.evaluation.fitting import Fitting

ONE_SCORE = "[confidence_margin, or the table's only confidence; `best` chooses on a fifth of the rows]"
ALL_SCORES = "[all that the outputs allow]"
SelectorFile = Annotated[Path, typer.Argument(help="A selector file.")]
DeciderFile = Annotated[Path, typer.Argument(help="A selector or cascade file.")]
NewSelector = Annotated[Path, typer.Option("--output", "-o", help="The selector file to write.")]
NewSketch = Annotated[Path, typer.Option("--output", "-o", help="The .sketch file to write.")]
LogitsName = Annotated[str | None, typer.Option(help="The name of the logits tensor. [the one nearest the output]")]
SplitSeed = Annotated[int, typer.Option(min=0, help="Seed of the splits.")]
Log = Annotated[
    Path | None, typer.Option(help="Add every decision to this log: a .jsonl file, or a .parquet folder of parts.")
]
Figure = Annotated[Path | None, typer.Option(help="Write the risk-coverage curves here (.png, .pdf, .svg).")]
Delta = Annotated[float, typer.Option(help="Probability that the guarantee fails.")]
Level = Annotated[float, typer.Option(help="Level of the confidence intervals.")]
GroupColumn = Annotated[
    str | None, typer.Option(help="The column of the table that names groups. [group, or that of --selector]")
]
Minimum = Annotated[
    int | None, typer.Option(help="Merge bins until each has no rows, or at least this many, of every population.")
]
Nonfinite = Annotated[
    Literal["error", "reject"], typer.Option(help="'error', or 'reject' to count non-finite rows as rejected errors.")
]
Resume = Annotated[Path | None, typer.Option(help="A folder for finished parts, so that a stopped run continues.")]
Seed = Annotated[int, typer.Option(help="Seed of the draw of rows to fit on.")]


@final
@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Where many Parquet files are read."""

    engine: Annotated[
        str | None,
        typer.Option(
            help="Read Parquet files in parts, on threads (`local`) or a cluster (`ray`). [local for several files]",
            autocompletion=engine_names,
        ),
    ] = None
    workers: Annotated[int | None, typer.Option(help="Parallel workers. [one per core]")] = None
    address: Annotated[
        str | None, typer.Option(help="Address of the Ray cluster, such as auto. [a new one on this machine]")
    ] = None

    def execution(self) -> "abstain.scale.Execution":
        """The engine that is asked for, or threads of this machine."""
        return abstain.scale.Execution(self.engine or "local", self.workers, self.address)


@final
@dataclass(frozen=True, kw_only=True)
class FittingOptions:
    """The rows that scores are fitted on, and whether non-finite rows are refused."""

    fitting: Annotated[
        str,
        typer.Option(
            help="Outputs to fit scores on; or `fifth`, a fifth of the rows; or `paper`, five times as many as classes."
        ),
    ] = "fifth"
    nonfinite: Nonfinite = "error"
    seed: Seed = 0

    def load(self, outputs: str | Path, /, *, group: str | None = None) -> "abstain.Outputs":
        """The outputs of a file or folder."""
        return abstain.Outputs.load(outputs, nonfinite=self.nonfinite, group=group)

    def rows(self) -> "Fitting":
        """The draw of rows, or the outputs in a file."""
        if self.fitting in ("fifth", "paper"):
            return abstain.FittingDraw(self.fitting, seed=self.seed)  # type: ignore[arg-type]
        return self.load(self.fitting)


def given(options: Any, /) -> dict[str, Any]:
    """The values of a group of options, by the option's name."""
    return {f"--{name.replace('_', '-')}": value for name, value in vars(options).items()}


def score_list(scores: Sequence[str] | None, /) -> list[str] | None:
    """The names of scores, each option one or several; None where there is no option."""
    from abstain.scores.registry import split_names

    return [name for names in scores for name in split_names(names)] if scores else None


def numbers_of(option: str, text: str, /, *, rule: str) -> list[float]:
    """The numbers of an option, with commas between them; an error says that it must follow the rule."""
    from abstain._arguments import written_number

    try:
        return [written_number(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInputError(f"`{option}` must {rule}, got {text!r}.") from None


def refuse(options: Mapping[str, Any], rule: str, /) -> None:
    """Raise an error for the first of these options that is given: "`--name` must <rule>, got <value>."."""
    for name, value in options.items():
        if value is not None and value is not False and value != []:
            must, _, rest = rule.partition(". ")
            got = "it" if value is True else ", ".join(map(str, value)) if isinstance(value, list) else value
            raise InvalidInputError(f"`{name}` must {must}, got {got}." + f" {rest}" * bool(rest))

"""Options that several commands share, and groups of options that one dataclass holds."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, final, get_type_hints

import typer

from abstain._errors import InvalidInputError
from abstain.cli.completion import engine_names

if TYPE_CHECKING:
    from abstain.evaluation.fitting import Fitting
    from abstain.scale import Execution

ONE_SCORE = "[confidence_margin, or the table's only confidence; `best` chooses on a fifth of the rows]"
ALL_SCORES = "[all that the outputs allow]"
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Log = Annotated[
    Path | None, typer.Option(help="Add every decision to this log: a .jsonl file, or a .parquet folder of parts.")
]
Figure = Annotated[Path | None, typer.Option(help="Write the risk-coverage curves here (.png, .pdf, .svg).")]
Delta = Annotated[float, typer.Option(help="Probability that the guarantee fails.")]
Level = Annotated[float, typer.Option(help="Level of the confidence intervals.")]
FittingOn = Annotated[
    str,
    typer.Option(
        help="Outputs to fit scores on; or `fifth`, a fifth of the rows; or `paper`, five times as many as classes."
    ),
]
GroupColumn = Annotated[
    str | None, typer.Option(help="The column of the table that names groups. [group, or that of --selector]")
]
Minimum = Annotated[
    int | None, typer.Option(help="Merge bins until each has no rows, or at least this many, of every population.")
]
Nonfinite = Annotated[
    Literal["error", "reject"], typer.Option(help="'error', or 'reject' to count non-finite rows as rejected errors.")
]


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

    def execution(self) -> "Execution":
        """The engine that is asked for, or threads of this machine."""
        from abstain.scale import Execution

        return Execution(self.engine or "local", self.workers, self.address)


Resume = Annotated[Path | None, typer.Option(help="A folder for finished parts, so that a stopped run continues.")]


def with_options(command: Callable[..., None], /) -> Callable[..., None]:
    """Give Typer a flat signature: a parameter that is a dataclass of options becomes its fields.

    The command itself takes the dataclasses, so that options that belong together stay together.
    """
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind):
            groups[parameter.name] = kind
            parameters += _fields(kind)
        else:
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=kind))

    def flat(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        command(**values)

    flat.__name__, flat.__doc__ = command.__name__, command.__doc__
    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat


def _fields(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]


def score_list(scores: Sequence[str] | None, /) -> list[str] | None:
    """The names of scores, each option one or several; None where there is no option."""
    from abstain.scores.registry import split_names

    return [name for names in scores for name in split_names(names)] if scores else None


def fitting_of(fitting: str, nonfinite: str, /) -> "Fitting":
    """The name of a draw, or the outputs in a file."""
    from abstain.outputs import Outputs

    if fitting in ("fifth", "paper"):
        return fitting  # type: ignore[return-value]
    return Outputs.load(fitting, nonfinite=nonfinite)  # type: ignore[arg-type]


def check_html(option: str, file: Path | None, /) -> None:
    """A page must have a name that a browser opens."""
    if file is not None and file.suffix.lower() not in (".html", ".htm"):
        raise InvalidInputError(f"`{option}` must end in .html, got {file.name}.")


def refuse(options: Mapping[str, Any], rule: str, /) -> None:
    """Raise an error for the first of these options that is given: "`--name` must <rule>, got <value>."."""
    for name, value in options.items():
        if value is not None and value is not False and value != []:
            must, _, rest = rule.partition(". ")
            got = "it" if value is True else ", ".join(map(str, value)) if isinstance(value, list) else value
            raise InvalidInputError(f"`{name}` must {must}, got {got}." + f" {rest}" * bool(rest))

"""A function as a command: its groups of options, ``--json``, and its help with the example at the end."""

import inspect
import os
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer.core

from abstain._errors import AbstainError, InvalidInputError
from abstain.cli.printing import Result, print_json, show
from abstain.cli.terminal import shown

EXAMPLE = "\n\nExample: "
FORWARDING = {"context_settings": {"allow_extra_args": True, "ignore_unknown_options": True}, "add_help_option": False}
"""Settings of a command that passes all its arguments on, ``--help`` among them."""
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


GROUPING = ("--per", "--group-column", "--group")
"""Options about groups, of which a command has one at most; it is suggested for the others."""


class HelpCommand(typer.core.TyperCommand):
    """A command whose help uses only characters that the terminal can show."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # whose class is Typer's own or click's, by the version of Typer
            if getattr(error, "option_name", None) in GROUPING and hasattr(error, "possibilities"):
                own = {name for parameter in self.params for name in parameter.opts}
                error.possibilities = [name for name in GROUPING if name in own]
            raise

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        super().format_help(ctx, formatter)
        formatter.buffer[:] = map(shown, formatter.buffer)


class HelpGroup(typer.core.TyperGroup):
    """The same for all commands together."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        super().format_help(ctx, formatter)
        formatter.buffer[:] = map(shown, formatter.buffer)


def add_command(app: typer.Typer, command: Callable[..., Result | None], /) -> None:
    """Add a command; the last paragraph of its docstring, ``Example: …``, goes to the end of its help.

    One that takes a `typer.Context` passes all its arguments on.
    """
    text, example = _parts(command)
    if typer.Context in inspect.get_annotations(command).values():
        app.command(cls=HelpCommand, help=text, **FORWARDING)(command)  # type: ignore[arg-type]
        return
    epilog = f"\b\nExample: {example}"  # \b keeps the line whole
    app.command(cls=HelpCommand, help=text, epilog=epilog)(_flat(command))


def command_rows(commands: Iterable[Callable[..., Any]], /) -> list[tuple[str, str]]:
    """An example of each command, and the first paragraph of its help, for the table of docs/commands.md."""
    return [(example, " ".join(text.partition("\n\n")[0].split())) for text, example in map(_parts, commands)]


def _parts(command: Callable[..., Any]) -> tuple[str, str]:
    """The help and the example of a command."""
    text, _, example = inspect.cleandoc(command.__doc__ or "").rpartition(EXAMPLE)
    return text, example


def _flat(command: Callable[..., Result | None]) -> Callable[..., None]:
    """The function that Typer sees: a dataclass of options becomes its fields, and a `Result` is printed.

    The command itself takes the dataclasses, so that options that belong together stay together. One that returns a
    `Result` has the option ``--json``, which it takes itself only if it prints while it runs.
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
    takes_json = "json" in hints
    if hints["return"] is Result and not takes_json:
        parameters.append(inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json))

    def flat(**values: Any) -> None:
        _check_outputs(values)
        json = values.get("json", False) if takes_json else values.pop("json", False)
        for name, kind in groups.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        _run(command, values, json=json)

    flat.__name__, flat.__doc__ = command.__name__, command.__doc__
    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat


def _check_outputs(values: dict[str, Any]) -> None:
    """Refuse to write over a file that the command reads."""
    read = [path for name, value in values.items() if name != "output" for path in _files(value)]
    for path in _files(values.get("output")):
        if any(path.samefile(other) for other in read):
            raise InvalidInputError(f"`--output` must be another file than those that are read, got {path}.")


def _files(value: Any) -> list[Path]:
    """The existing files that an option names."""
    paths = [Path(item) for item in (value if isinstance(value, list) else [value]) if isinstance(item, str | Path)]
    return [path for path in paths if os.path.isfile(path)]  # False, not an error, where it cannot be a path


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


def _run(command: Callable[..., Result | None], values: dict[str, Any], *, json: bool) -> None:
    """Run a command and print its result; as JSON also what a `NoSafeThresholdError` knows to be achievable."""
    try:
        result = command(**values)
    except AbstainError as error:
        if json and hasattr(error, "achievable"):
            print_json({"error": str(error), "achievable": error.achievable})
        raise
    if result is None:
        return
    if json:
        print_json(result.document)
    else:
        for line in result.lines:
            show(line)
    if result.code:
        raise typer.Exit(result.code)

"""The help of a command, with its example at the end, and the table of all commands for the documentation."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import typer.core

from abstain.cli.options import with_options
from abstain.cli.terminal import shown

EXAMPLE = "\n\nExample: "
FORWARDING = {"context_settings": {"allow_extra_args": True, "ignore_unknown_options": True}, "add_help_option": False}
"""Settings of a command that passes all its arguments on, ``--help`` among them."""


class HelpCommand(typer.core.TyperCommand):
    """A command whose help uses only characters that the terminal can show."""

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


def add_command(app: typer.Typer, command: Callable[..., None], /) -> None:
    """Add a command; the last paragraph of its docstring, ``Example: …``, goes to the end of its help.

    One that takes a `typer.Context` passes all its arguments on.
    """
    text, example = _parts(command)
    if typer.Context in inspect.get_annotations(command).values():
        app.command(cls=HelpCommand, help=text, **FORWARDING)(command)  # type: ignore[arg-type]
        return
    epilog = f"\b\nExample: {example}"  # \b keeps the line whole
    app.command(cls=HelpCommand, help=text, epilog=epilog)(with_options(command))


def command_rows(commands: Iterable[Callable[..., None]], /) -> list[tuple[str, str]]:
    """An example of each command, and the first paragraph of its help, for the table of docs/commands.md."""
    return [(example, " ".join(text.partition("\n\n")[0].split())) for text, example in map(_parts, commands)]


def _parts(command: Callable[..., None]) -> tuple[str, str]:
    """The help and the example of a command."""
    text, _, example = inspect.cleandoc(command.__doc__ or "").rpartition(EXAMPLE)
    return text, example

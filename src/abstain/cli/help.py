"""The help of a command: its example at the end, in letters that the terminal has."""

import inspect
from collections.abc import Callable
from typing import Any

import typer.core

from abstain.cli.letters import shown


class HelpCommand(typer.core.TyperCommand):
    """A command whose help every terminal can show."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        super().format_help(ctx, formatter)
        formatter.buffer[:] = [shown(text) for text in formatter.buffer]


class HelpGroup(typer.core.TyperGroup):
    """The same for all commands together."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        super().format_help(ctx, formatter)
        formatter.buffer[:] = [shown(text) for text in formatter.buffer]


def add_command(app: typer.Typer, command: Callable[..., None], /) -> None:
    """Add a command; the last paragraph of its docstring, ``Example: …``, goes to the end of its help."""
    words, _, example = inspect.cleandoc(command.__doc__ or "").rpartition("\n\nExample: ")
    app.command(cls=HelpCommand, help=words, epilog=f"\b\nExample: {example}")(command)  # \b keeps the line whole

"""The registry of commands, and errors in one line."""

import gc
import os
import sys
import warnings
from collections.abc import Callable
from errno import ENOSPC
from importlib import import_module
from typing import Annotated

import typer

import abstain
from abstain._errors import AbstainError
from abstain.cli.commands import HelpGroup, add_command
from abstain.cli.printing import Result
from abstain.cli.terminal import set_up_streams, shown

COLLECT_EVERY = 100_000  # new objects: looking for garbage while modules load takes a tenth of a short command
COMMANDS = (
    "demo",
    "scores",
    "collect",
    "evaluate",
    "compare",
    "report",
    "sensitivity",
    "plan",
    "calibrate",
    "cascade",
    "sets",
    "select",
    "certify",
    "groups",
    "attach",
    "serve",
    "monitor",
    "estimate",
    "recertify",
    "sketch",
    "merge",
    "reproduce",
)
"""Every command, in the order of the help: a function in the module of its name. Help and docs are made from them."""

app = typer.Typer(
    name="abstain",
    cls=HelpGroup,
    help='Make a trained classifier say "I don\'t know" when it should.',
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        print(abstain.__version__)
        raise typer.Exit


@app.callback()
def _abstain(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Make a trained classifier say "I don't know" when it should."""


def command_functions() -> list[Callable[..., Result | None]]:
    """The commands, in the order of the help."""
    return [getattr(import_module(f"abstain.cli.{name}"), name) for name in COMMANDS]


for command in command_functions():
    add_command(app, command)


def main() -> None:
    """Run the command; an error is one line on standard error, with exit code 1.

    With the environment variable ABSTAIN_DEBUG the traceback is shown instead. A warning is one line there too.
    """
    gc.set_threshold(COLLECT_EVERY)
    set_up_streams()
    warnings.formatwarning = lambda message, *_, **__: shown(f"abstain: {' '.join(str(message).split())}\n")
    try:
        app()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of a pipe has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(141) from None
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:  # some libraries raise what is not an Exception
        if os.environ.get("ABSTAIN_DEBUG"):
            raise
        print(shown(f"abstain: {error_line(error)}"), file=sys.stderr)
        raise SystemExit(1) from None
    finally:
        gc.freeze()  # the process ends: a last look for garbage takes a fifth of a short command


def error_line(error: BaseException) -> str:
    """One line: the message of an error in the input or of the system, or how to report a bug."""
    message = " ".join(str(error).split())
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"`{error.filename}` cannot be read or written: {error.strerror}."
    if isinstance(error, OSError) and error.errno == ENOSPC:  # files are named by what writes them
        return f"Standard output cannot be written: {error.strerror}."
    if isinstance(error, AbstainError):
        return message
    if isinstance(error, MemoryError):
        return f"There is not enough memory. {message}".strip()
    kind = type(error).__name__
    return f"This is a bug in abstain ({kind}: {message}). Set ABSTAIN_DEBUG=1 to see the traceback, and report it."

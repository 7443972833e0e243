"""The commands together, and errors in one line."""

import os
import sys
import warnings
from typing import Annotated

import typer

from abstain.cli.attach import attach
from abstain.cli.calibrate import calibrate
from abstain.cli.collect import collect
from abstain.cli.demo import demo
from abstain.cli.evaluate import evaluate
from abstain.cli.monitor import monitor
from abstain.cli.plan import plan
from abstain.cli.recertify import recertify
from abstain.cli.reproduce import reproduce
from abstain.cli.scores import scores
from abstain.cli.select import select
from abstain.cli.sensitivity import sensitivity

app = typer.Typer(
    name="abstain",
    help='Make a trained classifier say "I don\'t know" when it should.',
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        import abstain

        print(abstain.__version__)
        raise typer.Exit


@app.callback()
def _abstain(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Make a trained classifier say "I don't know" when it should."""


COMMANDS = (
    demo,
    scores,
    collect,
    evaluate,
    sensitivity,
    plan,
    calibrate,
    select,
    attach,
    monitor,
    recertify,
    reproduce,
)
for command in COMMANDS:
    app.command()(command)


def main() -> None:
    """Run the command; what goes wrong is said in one line on standard error, with exit code 1.

    With the environment variable ABSTAIN_DEBUG the traceback is shown instead. A warning is one line there too.
    """
    warnings.formatwarning = lambda message, *_, **__: f"abstain: {' '.join(str(message).split())}\n"
    try:
        app()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(141) from None
    except Exception as error:
        if os.environ.get("ABSTAIN_DEBUG"):
            raise
        print(f"abstain: {_said(error)}", file=sys.stderr)
        raise SystemExit(1) from None


def _said(error: Exception) -> str:
    """One line: the message of an error that is the input's, or where to look for one that is ours."""
    words = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return f"There is not enough memory for this. {words}".strip()
    if isinstance(error, ValueError | TypeError | LookupError | OSError | ImportError) and words:
        return words
    kind = type(error).__name__
    return f"This is a mistake of abstain's own ({kind}: {words}). ABSTAIN_DEBUG=1 shows where; please report it."

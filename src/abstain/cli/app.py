"""The commands together, and errors in one line."""

import gc
import os
import sys
import warnings
from errno import ENOSPC
from typing import Annotated

import typer

from abstain.cli.attach import attach
from abstain.cli.calibrate import calibrate
from abstain.cli.certify import certify
from abstain.cli.collect import collect
from abstain.cli.compare import compare
from abstain.cli.demo import demo
from abstain.cli.evaluate import evaluate
from abstain.cli.help import HelpGroup, add_command
from abstain.cli.letters import set_up_streams, shown
from abstain.cli.merge import merge
from abstain.cli.monitor import monitor
from abstain.cli.plan import plan
from abstain.cli.recertify import recertify
from abstain.cli.report import report
from abstain.cli.reproduce import reproduce
from abstain.cli.scores import scores
from abstain.cli.select import select
from abstain.cli.sensitivity import sensitivity
from abstain.cli.sketch import sketch
from abstain.foreign import is_meant

COLLECT_EVERY = 100_000  # new objects: looking for garbage while modules load takes a tenth of a short command

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
    compare,
    report,
    sensitivity,
    plan,
    calibrate,
    select,
    certify,
    attach,
    monitor,
    recertify,
    sketch,
    merge,
    reproduce,
)
for command in COMMANDS:
    add_command(app, command)


def main() -> None:
    """Run the command; what goes wrong is said in one line on standard error, with exit code 1.

    With the environment variable ABSTAIN_DEBUG the traceback is shown instead. A warning is one line there too.
    """
    gc.set_threshold(COLLECT_EVERY)
    set_up_streams()
    warnings.formatwarning = lambda message, *_, **__: shown(f"abstain: {' '.join(str(message).split())}\n")
    try:
        app()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(141) from None
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:  # some libraries end in what is no Exception
        if os.environ.get("ABSTAIN_DEBUG"):
            raise
        print(shown(f"abstain: {said(error)}"), file=sys.stderr)
        raise SystemExit(1) from None
    finally:
        gc.freeze()  # the process ends: a last look for garbage takes a fifth of a short command


def said(error: BaseException) -> str:
    """One line: the message of an error that is the input's or the system's, or how to see one that is ours."""
    words = " ".join(str(error).split())
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"`{error.filename}` cannot be read or written: {error.strerror}."
    if isinstance(error, OSError) and error.errno == ENOSPC:  # files are named by who writes them
        return f"Standard output cannot be written: {error.strerror}."
    if isinstance(error, ValueError | TypeError | LookupError | OSError | ImportError) and is_meant(error):
        return words
    if isinstance(error, MemoryError):
        return f"There is not enough memory for this. {words}".strip()
    if isinstance(error, UnicodeDecodeError):
        return f"A text must be in UTF-8, got the byte 0x{error.object[error.start]:02x}. Save it in UTF-8."
    if isinstance(error, OSError | ImportError) and words:
        return words
    kind = type(error).__name__
    return f"This is a mistake of abstain's own ({kind}: {words}). ABSTAIN_DEBUG=1 shows where; please report it."

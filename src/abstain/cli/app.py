"""The commands together, and errors in one line."""

import sys
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
    """Run the command; what goes wrong is said in one line on standard error, with exit code 1."""
    try:
        app()
    except (ValueError, TypeError, LookupError, OSError, ImportError) as error:
        print(f"abstain: {' '.join(str(error).split())}", file=sys.stderr)
        raise SystemExit(1) from None

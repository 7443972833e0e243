"""What commands print: one JSON document, paragraphs, small tables, the next command."""

import json as json_module
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from abstain._io.records import jsonable
from abstain.cli.terminal import CONTROLS, program, shown

if TYPE_CHECKING:
    from rich.table import Table

JSON_ESCAPED = {code: f"\\u{code:04x}" for code in CONTROLS}


def print_json(document: Any) -> None:
    """One document on standard output; infinities are the strings "inf" and "-inf", NaN is an error."""
    plain = shown("α") != "α"  # names are escaped, as JSON does, where they cannot be shown
    text = json_module.dumps(jsonable(document), allow_nan=False, ensure_ascii=plain)  # whole before a byte is written
    sys.stdout.write(text.translate(JSON_ESCAPED) + "\n")


@contextmanager
def refusal_as_json(json: bool) -> Iterator[None]:
    """Inside the context a `NoSafeThresholdError` is also printed as JSON: the message, and what is achievable."""
    from abstain.thresholds.refusal import NoSafeThresholdError

    try:
        yield
    except NoSafeThresholdError as error:
        if json:
            print_json({"error": str(error), "achievable": [asdict(row) for row in error.achievable]})
        raise


def say(text: str, /, *, whole: bool = False, flush: bool = False) -> None:
    """A paragraph on standard output: wrapped in a terminal, one line elsewhere, or ``whole`` to copy."""
    if whole or not sys.stdout.isatty():
        print(shown(text), flush=flush)
        return
    from rich.console import Console

    Console(markup=False, highlight=False, emoji=False).print(shown(text))


def warn(text: str, /) -> None:
    """A line on standard error."""
    print(shown(f"abstain: {text}"), file=sys.stderr)


def command_line(*words: object) -> str:
    """A command of this program to copy; words are quoted for a shell."""
    return f"{program()} {shlex.join(map(str, words))}"


def print_next(*words: object) -> None:
    """The command to run next, on a line of its own."""
    say(f"Next: {command_line(*words)}", whole=True)


def small_table(columns: Sequence[str], rows: Iterable[Sequence[str]], /, *, title: str | None = None) -> "Table":
    """A table for a terminal, the first column to the left and the others, numbers, to the right; nothing is cut."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    heading = None if title is None else escape(shown(title))
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title=heading, title_justify="left")
    for index, name in enumerate(columns):
        table.add_column(escape(shown(name)), justify="right" if index else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(shown(cell)) for cell in row))
    return table

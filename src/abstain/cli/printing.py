"""What a command returns and how it is printed: one JSON document, or lines and tables for people."""

import json
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast, final

from abstain._io.records import jsonable
from abstain.cli.terminal import CONTROLS, program, shown

if TYPE_CHECKING:
    from rich.table import Table

JSON_ESCAPED = {code: f"\\u{code:04x}" for code in CONTROLS}


@final
@dataclass(frozen=True)
class Paragraph:
    """A paragraph in a style of Rich, or one that stays ``whole`` to be copied."""

    text: str
    style: str = ""
    whole: bool = False


Lines = Iterable["str | Paragraph | Table"]


@final
@dataclass(frozen=True)
class Result:
    """What a command returns: what ``--json`` prints, what people read instead, and the exit code."""

    document: Any
    lines: Lines
    code: int = 0


def print_json(document: Any) -> None:
    """One document on standard output: a dataclass is an object, ±inf is "inf" or "-inf", NaN is an error."""
    plain = shown("α") != "α"  # names are escaped, as JSON does, where they cannot be shown
    text = json.dumps(jsonable(document), allow_nan=False, ensure_ascii=plain, default=_record)
    sys.stdout.write(text.translate(JSON_ESCAPED) + "\n")  # nothing is written if something cannot be


def _record(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", jsonable(asdict(value)))


def show(part: "str | Paragraph | Table", /, *, flush: bool = False) -> None:
    """A table, a styled paragraph, or a plain one, which is wrapped in a terminal and one line elsewhere."""
    part = Paragraph(part) if isinstance(part, str) else part
    if isinstance(part, Paragraph) and (part.whole or not (part.style or sys.stdout.isatty())):
        print(shown(part.text), flush=flush)
        return
    from rich.console import Console

    if isinstance(part, Paragraph):
        Console(markup=False, highlight=False, emoji=False).print(shown(part.text), style=part.style)
    else:
        Console().print(part)


def warn(text: str, /) -> None:
    """A line on standard error."""
    print(shown(f"abstain: {text}"), file=sys.stderr)


def command_line(*words: object) -> str:
    """A command of this program to copy; words are quoted for a shell."""
    return f"{program()} {shlex.join(map(str, words))}"


def next_command(*words: object) -> Paragraph:
    """The command to run next, on a line of its own."""
    return Paragraph(f"Next: {command_line(*words)}", whole=True)


def small_table(columns: Sequence[str], rows: Iterable[Sequence[str]], /, *, title: str | None = None) -> "Table":
    """A table for a terminal, the first column to the left and the others, numbers, to the right; nothing is cut."""
    from rich.markup import escape

    table = empty_table(title)
    for index, name in enumerate(columns):
        table.add_column(escape(shown(name)), justify="right" if index else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(shown(cell)) for cell in row))
    return table


def empty_table(title: str | None = None, /, *, style: str = "table.title") -> "Table":
    """A table without columns, in the form that all of them have."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    heading = None if title is None else escape(shown(title))
    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title=heading, title_justify="left", title_style=style)


def fits(table: "Table", /) -> bool:
    """Whether a table is no wider than the terminal with no name or number broken."""
    from rich.console import Console

    console = Console()
    return table.__rich_measure__(console, console.options.update(max_width=10_000)).maximum <= console.width

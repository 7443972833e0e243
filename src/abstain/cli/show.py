"""Print an evaluation: one JSON document, or tables that fit the terminal."""

import json as json_module
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from abstain.cli.letters import shown
from abstain.jsonable import jsonable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from abstain.evaluation import Evaluation, Progress

BEST, TIED = "●", "○"


def print_json(document: Any) -> None:
    """One document on standard output; infinities are the words "inf" and "-inf", NaN is an error."""
    plain = shown("α") != "α"  # names are escaped, as JSON does, where they cannot be shown
    text = json_module.dumps(jsonable(document), allow_nan=False, ensure_ascii=plain)  # whole before a byte is written
    sys.stdout.write(f"{text}\n")


@contextmanager
def progress_bar() -> "Iterator[Progress]":
    """A bar on standard error that follows `evaluate`; it goes away when done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda what, share: bar.update(task, description=what, completed=share)


@contextmanager
def sample_bar() -> "Iterator[Callable[[int, int], None]]":
    """A bar on standard error that counts samples, with the rate and the time left; it goes away when done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("Collecting"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None, rate="")

        def update(done: int, total: int) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, completed=done, total=total, rate=f"{speed:.0f}/s" if speed else "")

        yield update


def print_evaluation(evaluation: "Evaluation", console: "Console") -> None:
    """The paper's table, AURC × 100: mixes side by side if there is room for their intervals, else one under the other.

    Intervals are left out only where a single mix has no room for them.
    """
    from abstain.report.figures import distinct_mixes

    mixes = distinct_mixes(evaluation)
    layouts = [[_table(evaluation, mixes, interval=True)]] if len(mixes) > 1 else []
    layouts += [[_table(evaluation, [mix], interval=interval) for mix in mixes] for interval in (True, False)]
    fitting = (tables for tables in layouts if max(_width(table, console) for table in tables) <= console.width)
    for table in next(fitting, layouts[-1]):
        console.print(table)
    words = f"AURC-α × 100, lower is better. {BEST} best of its column, {TIED} not significantly worse"
    console.print(shown(f"{words} (paired {100 * evaluation.level:g}% interval)."), style="dim")
    for reason in dict.fromkeys(evaluation.left_out.values()):
        names = [score for score, why in evaluation.left_out.items() if why == reason]
        console.print(f"Left out: {', '.join(names)}: {reason}.", style="dim")
    for note in evaluation.notes:
        console.print(note, style="dim")


def _width(table: "Table", console: "Console") -> int:
    """What the table would take if nothing were cut."""
    return table.__rich_measure__(console, console.options.update(max_width=10_000)).maximum


def _table(evaluation: "Evaluation", mixes: list[str], *, interval: bool = False) -> "Table":
    from rich import box
    from rich.table import Table

    together = len(mixes) > 1
    title = None if together else _mix_title(evaluation, mixes[0])
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title=title, title_justify="left", title_style="bold")
    table.add_column("score", no_wrap=True)
    for mix in mixes:
        for alpha in evaluation.alphas:
            name = f"{mix if alpha == evaluation.alphas[0] else ''}\n" if together else ""
            table.add_column(shown(f"{name}α={alpha:g} "), justify="right", no_wrap=True)
    for score in evaluation.scores:
        cells = [_cell(evaluation.row(score, mix, alpha), interval) for mix in mixes for alpha in evaluation.alphas]
        table.add_row(score, *cells)
    return table


def _mix_title(evaluation: "Evaluation", mix: str) -> str:
    row = evaluation.best(mix, evaluation.alphas[0])
    return f"{mix}: {row['n']:,} samples, {row['errors'] / row['n']:.1%} errors"


def _cell(row: dict[str, Any], interval: bool) -> str:
    text = f"{100 * row['aurc']:.2f}"
    mark = BEST if row["best"] else TIED if row["tied"] else " "
    text = f"[bold]{text}[/bold]{mark}" if row["best"] else f"{text}{mark}"
    return shown(f"{text} [dim]{100 * row['low']:.2f}–{100 * row['high']:.2f}[/dim]" if interval else text)

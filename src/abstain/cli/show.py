"""Print an evaluation: one JSON document, or tables that fit the terminal."""

import json as json_module
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any

from abstain.cli.letters import CONTROLS, shown
from abstain.jsonable import jsonable
from abstain.words import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from abstain.evaluation.progress import Progress
    from abstain.evaluation.summary import Cell, Summary

BEST, TIED = "●", "○"
EVERY = 60  # seconds between lines of progress
JSON_ESCAPED = {code: f"\\u{code:04x}" for code in CONTROLS}


def print_json(document: Any) -> None:
    """One document on standard output; infinities are the words "inf" and "-inf", NaN is an error."""
    plain = shown("α") != "α"  # names are escaped, as JSON does, where they cannot be shown
    text = json_module.dumps(jsonable(document), allow_nan=False, ensure_ascii=plain)  # whole before a byte is written
    sys.stdout.write(text.translate(JSON_ESCAPED) + "\n")


def say(text: str, /, *, whole: bool = False, flush: bool = False) -> None:
    """A paragraph on standard output: broken between words in a terminal, one line elsewhere, or ``whole`` to copy."""
    if whole or not sys.stdout.isatty():
        print(shown(text), flush=flush)
        return
    from rich.console import Console

    Console(markup=False, highlight=False, emoji=False).print(shown(text))


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
def sample_bar(doing: str = "Collecting") -> "Iterator[Callable[[int, int], None]]":
    """A bar on standard error that counts what is done, with the rate and the time left; it goes away when done.

    Where standard error is no terminal, as in the log of a batch job, it is a line a minute. What was done before the
    first call, by an earlier run, does not count in the rate.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(doing)
        return
    columns = (
        TextColumn(doing),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, rate="")
        first = True

        def update(done: int, total: int) -> None:
            nonlocal first
            if first:
                bar.reset(task, completed=done, total=total)
                first = False
            speed = bar.tasks[0].speed
            bar.update(task, completed=done, total=total, rate=f"{speed:.0f}/s" if speed else "")

        yield update


class _Lines:
    """Progress as a line now and then."""

    def __init__(self, doing: str) -> None:
        self.doing, self.start, self.last = doing, (0.0, 0), 0.0

    def __call__(self, done: int, total: int) -> None:
        now = monotonic()
        if not self.last:
            self.start, self.last = (now, done), now
        if now - self.last < EVERY or sys.stderr is None:
            return
        self.last = now
        rate = (done - self.start[1]) / (now - self.start[0])
        left = f", {timedelta(seconds=round((total - done) / rate))} left" if rate else ""
        print(f"{self.doing}: {done:,} of {total:,}, {rate:.3g}/s{left}", file=sys.stderr, flush=True)


def print_summary(summary: "Summary", console: "Console", *, intervals: bool = False) -> None:
    """The verdict, then the table."""
    console.print(shown(summary.verdict.words), style="bold", markup=False)
    print_table(summary, console, intervals=intervals)


def print_table(
    summary: "Summary", console: "Console", *, intervals: bool = False, rest: str = "--all shows them"
) -> None:
    """The metrics × 100, mixes side by side if there is room, else one under the other; then what a reader should know.

    ``rest`` says where scores are that the table leaves out.
    """
    for places in _tables(summary, console, intervals):
        console.print(_table(summary, places, intervals))
    words = f"{summary.caption} {BEST} best of its column, {TIED} not significantly worse"
    console.print(shown(f"{words} (paired {100 * summary.level:g}% interval)."), style="dim")
    if summary.not_shown:
        console.print(f"Not shown, as they rank lower: {counted(summary.not_shown, 'score')}; {rest}.", style="dim")
    for remark in summary.remarks():
        console.print(shown(remark), style="dim", markup=False)


def _tables(summary: "Summary", console: "Console", intervals: bool) -> list[list[int]]:
    """The columns of each table: all in one if they fit, else those of a mix, and there as many as fit."""
    every = list(range(len(summary.columns)))
    if _fits(summary, every, console, intervals):
        return [every]
    tables: list[list[int]] = []
    for place in every:
        column, last = summary.columns[place], summary.columns[place - 1] if place else None
        together = last is not None and last.mix == column.mix and (last.alpha is None) == (column.alpha is None)
        if together and _fits(summary, [*tables[-1], place], console, intervals):
            tables[-1].append(place)
        else:
            tables.append([place])
    return tables


def _fits(summary: "Summary", places: list[int], console: "Console", intervals: bool) -> bool:
    """Whether the table is no wider than the terminal with nothing cut."""
    measured = _table(summary, places, intervals).__rich_measure__(console, console.options.update(max_width=10_000))
    return measured.maximum <= console.width


def _table(summary: "Summary", places: list[int], intervals: bool) -> "Table":
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    first, mixes = summary.columns[places[0]], {summary.columns[place].mix for place in places}
    title = None if len(mixes) > 1 else escape(shown(first.rows))
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title=title, title_justify="left", title_style="bold")
    table.add_column("score", no_wrap=True)
    table.add_column("symbol", no_wrap=True, style="dim")
    last = None
    for place in places:
        column = summary.columns[place]
        name = f"{column.mix if column.mix != last else ''}\n" if len(mixes) > 1 else ""
        last = column.mix
        table.add_column(escape(shown(f"{name}{column.head} ")), justify="right", no_wrap=column.alpha is not None)
    for line in summary.lines:
        names = (escape(shown(name)) for name in (line.score, line.symbol))
        table.add_row(*names, *(_cell(line.cells[place], intervals) for place in places))
    return table


def _cell(cell: "Cell | None", intervals: bool) -> str:
    if cell is None:
        return shown("– ")
    mark = BEST if cell.is_best else TIED if cell.tied else " "
    text = f"[bold]{cell.text}[/bold]{mark}" if cell.is_best else f"{cell.text}{mark}"
    return shown(f"{text} [dim]{cell.interval}[/dim]" if intervals and cell.interval else text)

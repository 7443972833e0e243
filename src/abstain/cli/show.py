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

    from abstain.evaluation import Evaluation
    from abstain.evaluation.progress import Progress
    from abstain.evaluation.summary import Cell, Summary

METRICS_SHOWN = 4  # side by side on 80 columns
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
def sample_bar(doing: str = "Collecting") -> "Iterator[Callable[[int, int], None]]":
    """A bar on standard error that counts what is done, with the rate and the time left; it goes away when done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn(doing),
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


def print_summary(summary: "Summary", console: "Console", *, intervals: bool = False) -> None:
    """The verdict, then the table."""
    console.print(shown(summary.verdict.words), style="bold")
    print_table(summary, console, intervals=intervals)


def print_table(
    summary: "Summary", console: "Console", *, intervals: bool = False, rest: str = "--all shows them"
) -> None:
    """AURC × 100, mixes side by side if there is room, else one under the other; then what a reader should know.

    ``rest`` says where scores are that the table leaves out.
    """
    mixes = list(dict.fromkeys(column.mix for column in summary.columns))
    tables = [_table(summary, mixes, intervals)]
    if _width(tables[0], console) > console.width:
        tables = [_table(summary, [mix], intervals) for mix in mixes]
    for table in tables:
        console.print(table)
    words = f"AURC-α × 100, lower is better. {BEST} best of its column, {TIED} not significantly worse"
    console.print(shown(f"{words} (paired {100 * summary.level:g}% interval)."), style="dim")
    if summary.not_shown:
        console.print(f"{summary.not_shown} scores that rank lower are not shown; {rest}.", style="dim")
    for remark in summary.remarks():
        console.print(shown(remark), style="dim")


def print_further(evaluation: "Evaluation", summary: "Summary", console: "Console", *, mixes: list[str] | None) -> None:
    """Metrics beside AURC: a table for each mix, a column for each metric, the rows those of the summary."""
    from rich import box
    from rich.table import Table

    for mix in mixes or evaluation.mixes[-1:]:
        rows = [row for row in evaluation.further if row["mix"] == mix]
        names = list(dict.fromkeys(row["metric"] for row in rows if row["score"] is not None))
        values = {(row["score"], row["metric"]): row["value"] for row in rows}
        for start in range(0, len(names), METRICS_SHOWN):
            some = names[start : start + METRICS_SHOWN]
            table = Table(
                box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title=f"{mix}: further metrics", title_justify="left"
            )
            table.add_column("score", no_wrap=True)
            for name in some:
                table.add_column(shown(name), justify="right", overflow="fold")
            for line in summary.lines:
                table.add_row(line.score, *(f"{values[line.score, name]:.4f}" for name in some))
            console.print(table)
        for row in rows:
            if row["score"] is None:
                console.print(shown(f"{row['metric']} of the softmax on {mix}: {row['value']:.4f}"))


def _width(table: "Table", console: "Console") -> int:
    """What the table would take if nothing were cut."""
    return table.__rich_measure__(console, console.options.update(max_width=10_000)).maximum


def _table(summary: "Summary", mixes: list[str], intervals: bool) -> "Table":
    from rich import box
    from rich.table import Table

    places = [place for place, column in enumerate(summary.columns) if column.mix in mixes]
    first = summary.columns[places[0]]
    title = None if len(mixes) > 1 else f"{first.mix}: {first.n:,} rows, {first.errors / first.n:.1%} errors"
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title=title, title_justify="left", title_style="bold")
    table.add_column("score", no_wrap=True)
    table.add_column("symbol", no_wrap=True, style="dim")
    last = None
    for place in places:
        column = summary.columns[place]
        name = f"{column.mix if column.mix != last else ''}\n" if len(mixes) > 1 else ""
        last = column.mix
        table.add_column(shown(f"{name}α={column.alpha:g} "), justify="right", no_wrap=True)
    for line in summary.lines:
        table.add_row(line.score, shown(line.symbol), *(_cell(line.cells[place], intervals) for place in places))
    return table


def _cell(cell: "Cell", intervals: bool) -> str:
    text = f"{100 * cell.aurc:.2f}"
    mark = BEST if cell.is_best else TIED if cell.tied else " "
    text = f"[bold]{text}[/bold]{mark}" if cell.is_best else f"{text}{mark}"
    return shown(f"{text} [dim]{100 * cell.low:.2f}–{100 * cell.high:.2f}[/dim]" if intervals else text)

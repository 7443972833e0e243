"""The table of an evaluation on a terminal: the verdict, then scores by mix and metric, as wide as there is room."""

from typing import TYPE_CHECKING

from abstain._text import counted
from abstain.cli.terminal import shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from abstain.evaluation.summary import MetricCell, Summary

BEST, TIED = "●", "○"


def print_summary(summary: "Summary", console: "Console", *, intervals: bool = False) -> None:
    """The verdict, then the table."""
    console.print(shown(summary.verdict.words), style="bold", markup=False)
    print_table(summary, console, intervals=intervals)


def print_table(
    summary: "Summary", console: "Console", *, intervals: bool = False, rest: str = "--all shows them"
) -> None:
    """Print the metrics × 100, mixes side by side if there is room, and the remarks.

    ``rest`` says where the scores are that the table leaves out.
    """
    for columns in _tables(summary, console, intervals):
        console.print(_table(summary, columns, intervals))
    legend = f"{BEST} best of its column, {TIED} statistically tied with it (paired {100 * summary.level:g}% interval)."
    console.print(shown(f"{summary.caption} {legend}"), style="dim")
    if summary.not_shown:
        console.print(f"Not shown: {counted(summary.not_shown, 'score')} that rank lower; {rest}.", style="dim")
    for remark in summary.remarks():
        console.print(shown(remark), style="dim", markup=False)


def _tables(summary: "Summary", console: "Console", intervals: bool) -> list[list[int]]:
    """The columns of each table: all in one if they fit, else those of a mix, and there as many as fit."""
    every = list(range(len(summary.columns)))
    if _fits(summary, every, console, intervals):
        return [every]
    tables: list[list[int]] = []
    for index in every:
        column, last = summary.columns[index], summary.columns[index - 1] if index else None
        together = last is not None and last.mix == column.mix and (last.alpha is None) == (column.alpha is None)
        if together and _fits(summary, [*tables[-1], index], console, intervals):
            tables[-1].append(index)
        else:
            tables.append([index])
    return tables


def _fits(summary: "Summary", columns: list[int], console: "Console", intervals: bool) -> bool:
    """Whether the table is no wider than the terminal with nothing cut."""
    measured = _table(summary, columns, intervals).__rich_measure__(console, console.options.update(max_width=10_000))
    return measured.maximum <= console.width


def _table(summary: "Summary", columns: list[int], intervals: bool) -> "Table":
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    first, mixes = summary.columns[columns[0]], {summary.columns[index].mix for index in columns}
    title = None if len(mixes) > 1 else escape(shown(first.rows))
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title=title, title_justify="left", title_style="bold")
    table.add_column("score", no_wrap=True)
    table.add_column("symbol", no_wrap=True, style="dim")
    last = None
    for index in columns:
        column = summary.columns[index]
        name = f"{column.mix if column.mix != last else ''}\n" if len(mixes) > 1 else ""
        last = column.mix
        table.add_column(escape(shown(f"{name}{column.head} ")), justify="right", no_wrap=column.alpha is not None)
    for line in summary.lines:
        names = (escape(shown(name)) for name in (line.score, line.symbol))
        table.add_row(*names, *(_cell(line.cells[index], intervals) for index in columns))
    return table


def _cell(cell: "MetricCell | None", intervals: bool) -> str:
    if cell is None:
        return shown("– ")
    mark = BEST if cell.is_best else TIED if cell.tied else " "
    text = f"[bold]{cell.text}[/bold]{mark}" if cell.is_best else f"{cell.text}{mark}"
    return shown(f"{text} [dim]{cell.interval}[/dim]" if intervals and cell.interval else text)

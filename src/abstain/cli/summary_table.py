"""The table of an evaluation on a terminal: scores by mix and metric, as wide as there is room."""

from typing import TYPE_CHECKING

import abstain
from abstain._text import counted
from abstain.cli.printing import Lines, Paragraph, empty_table, fits
from abstain.cli.terminal import shown

if TYPE_CHECKING:
    from rich.table import Table

    from abstain.evaluation.summary import MetricCell

BEST, TIED = "●", "○"


def table_lines(summary: "abstain.Summary", /, *, intervals: bool = False, rest: str = "--all shows them") -> Lines:
    """The metrics × 100, mixes side by side if there is room, and the remarks.

    ``rest`` says where the scores are that the table leaves out.
    """
    yield from _tables(summary, intervals)
    legend = f"{BEST} best of its column, {TIED} statistically tied with it (paired {100 * summary.level:g}% interval)"
    legend += "." if all(column.alpha is not None for column in summary.columns) else "; only AURC is tested."
    yield Paragraph(f"{summary.caption} {legend}", "dim")
    if summary.not_shown:
        yield Paragraph(f"Not shown: {counted(summary.not_shown, 'score')} that rank lower; {rest}.", "dim")
    yield from (Paragraph(remark, "dim") for remark in summary.remarks())


def _tables(summary: "abstain.Summary", intervals: bool) -> "list[Table]":
    """All columns in one table if they fit, else a table for each mix, with as many columns as fit."""
    whole = _table(summary, [*range(len(summary.columns))], intervals)
    if fits(whole):
        return [whole]
    tables: list[Table] = []
    together: list[int] = []
    for index, column in enumerate(summary.columns):
        last = summary.columns[index - 1]
        continues = bool(together) and last.mix == column.mix and (last.alpha is None) == (column.alpha is None)
        if continues and fits(wider := _table(summary, [*together, index], intervals)):
            together.append(index)
            tables[-1] = wider
        else:
            together = [index]
            tables.append(_table(summary, together, intervals))
    return tables


def _table(summary: "abstain.Summary", columns: list[int], intervals: bool) -> "Table":
    from rich.markup import escape

    first, mixes = summary.columns[columns[0]], {summary.columns[index].mix for index in columns}
    table = empty_table(None if len(mixes) > 1 else first.rows, style="bold")
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

"""A table that can be sorted by any column."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from abstain.report.page.text import text


@dataclass(frozen=True)
class Cell:
    """HTML that is already escaped, and the number it is sorted by where that is not what it shows."""

    html: str
    key: float | None = None


@dataclass(frozen=True)
class Column:
    """The title of a column, and whether it holds numbers."""

    title: str
    number: bool = False


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[Cell]], /, *, caption: str, name: str = "", sortable: bool = True
) -> str:
    """The table, the first cell of each row its header; ``name`` is the id that a script finds it by."""
    kind = ' class="sortable"' if sortable else ""
    where = f' id="{text(name)}"' if name else ""
    head = "".join(_head(column, sortable) for column in columns)
    body = "".join(_row(columns, row) for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}"><table{where}{kind}>'
        f"<caption><span>{text(caption)}</span></caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _head(column: Column, sortable: bool) -> str:
    kind = ' class="number"' if column.number else ""
    title = f'<button type="button">{text(column.title)}</button>' if sortable else text(column.title)
    return f'<th scope="col"{kind}>{title}</th>'


def _row(columns: Sequence[Column], row: Sequence[Cell]) -> str:
    first, *rest = [_cell(column, cell, number) for number, (column, cell) in enumerate(zip(columns, row, strict=True))]
    return f"<tr>{first}{''.join(rest)}</tr>"


def _cell(column: Column, cell: Cell, number: int) -> str:
    kind = ' class="number"' if column.number else ""
    key = "" if cell.key is None else f' data-key="{cell.key!r}"'
    return f'<th scope="row"{kind}{key}>{cell.html}</th>' if not number else f"<td{kind}{key}>{cell.html}</td>"

"""The table of costs that `--costs` names: numbers, with or without the names of the classes."""

import csv
from collections.abc import Sequence
from pathlib import Path

from abstain._errors import InvalidInputError

SHOWN = 9


def read_costs(file: Path, n_classes: int, class_names: Sequence[str] | None, /) -> list[list[float]]:
    """(K, K) costs[predicted][true], in the order of the classes, whatever order the file names them in."""
    from abstain._io.files import read_text

    lines = read_text(file, "a table of costs").splitlines()
    try:
        cells = [[cell.strip() for cell in row] for row in csv.reader(lines, strict=True) if row]
    except csv.Error as error:
        raise InvalidInputError(f"`{file}` must be a table of comma-separated values, got {error}.") from None
    if len(lengths := sorted({len(row) for row in cells})) != 1:
        got = f"rows of {' and '.join(map(str, lengths))} cells" if lengths else "no rows"
        raise InvalidInputError(f"`{file}` must have equally many cells in every row, got {got}.")
    if not _has_names(cells, n_classes):
        return [_numbers(file, row) for row in cells]
    order = _names(n_classes, class_names)
    columns, rows = cells[0][1:], [row[0] for row in cells[1:]]
    for where, names in (("above its columns", columns), ("before its rows", rows)):
        if sorted(names) != sorted(order):
            raise InvalidInputError(
                f"`{file}` must have each class once {where}, {_listed(order)}, got {_listed(names) or 'none'}. Or "
                "leave all names out."
            )
    costs = {row[0]: dict(zip(columns, _numbers(file, row[1:]), strict=True)) for row in cells[1:]}
    return [[costs[predicted][true] for true in order] for predicted in order]


def cost_order(n_classes: int, class_names: Sequence[str] | None, /) -> str:
    """In words, which class the first row and column of costs are of.

    >>> cost_order(3, ("cat", "dog", "eel"))
    'Costs: row k is the cost of predicting class k, column k where class k is true; in order: cat, dog, eel.'
    """
    words = "Costs: row k is the cost of predicting class k, column k where class k is true; in order:"
    return f"{words} {_listed(_names(n_classes, class_names))}."


def _names(n_classes: int, class_names: Sequence[str] | None) -> list[str]:
    return list(class_names or map(str, range(n_classes)))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def _has_names(cells: list[list[str]], n_classes: int) -> bool:
    """Whether a row and a column more than there are classes name them, or the first line holds a name."""
    return len(cells) == n_classes + 1 == len(cells[0]) or not all(_is_number(cell) for cell in cells[0])


def _is_number(cell: str) -> bool:
    from abstain._arguments import written_number

    try:
        written_number(cell)
    except ValueError:
        return False
    return True


def _numbers(file: Path, row: Sequence[str]) -> list[float]:
    from abstain._arguments import written_number

    try:
        return [written_number(cell) for cell in row]
    except ValueError as error:
        raise InvalidInputError(
            f"`{file}` must hold numbers and class names only, got {error}".rstrip(".") + "."
        ) from None

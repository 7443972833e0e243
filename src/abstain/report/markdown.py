"""A table in Markdown."""

from collections.abc import Iterable, Sequence


def markdown_lines(columns: Sequence[str], rows: Iterable[Sequence[str]], /, *, numbers: int = 0) -> list[str]:
    r"""Its lines; the last ``numbers`` columns are set to the right.

    >>> markdown_lines(["score", "AURC"], [["a|b", "1.5"]], numbers=1)
    ['| score | AURC |', '|---|---:|', '| a\\|b | 1.5 |']
    """
    rule = "|" + "---|" * (len(columns) - numbers) + "---:|" * numbers
    return [_line(columns), rule, *map(_line, rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

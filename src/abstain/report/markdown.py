"""A table in Markdown."""

import re
from collections.abc import Iterable, Sequence


def markdown_lines(columns: Sequence[str], rows: Iterable[Sequence[str]], /, *, numbers: int = 0) -> list[str]:
    r"""Its lines; the last ``numbers`` columns are set to the right.

    >>> markdown_lines(["score", "AURC"], [["a|b", "1.5"]], numbers=1)
    ['| score | AURC |', '|---|---:|', '| a\\|b | 1.5 |']
    """
    rule = "|" + "---|" * (len(columns) - numbers) + "---:|" * numbers
    return [_line(columns), rule, *map(_line, rows)]


def inline(words: str, /) -> str:
    r"""Words that others wrote, within a line or a cell of Markdown: nothing in them is a mark or HTML.

    >>> inline("a_b <script>")
    'a\\_b &lt;script&gt;'
    """
    whole = words.encode("utf-8", "replace").decode()  # no halves of letters
    one_line = " ".join(whole.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]#~])", r"\\\1", one_line)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

"""A table in Markdown."""

import re
from collections.abc import Iterable, Sequence

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")  # also of direction


def markdown_lines(columns: Sequence[str], rows: Iterable[Sequence[str]], /, *, numbers: int = 0) -> list[str]:
    r"""Its lines; the last ``numbers`` columns are set to the right.

    >>> markdown_lines(["score", "AURC"], [["a|b", "1.5"]], numbers=1)
    ['| score | AURC |', '|---|---:|', '| a\\|b | 1.5 |']
    """
    rule = "|" + "---|" * (len(columns) - numbers) + "---:|" * numbers
    return [_line(columns), rule, *map(_line, rows)]


def inline(words: str, /) -> str:
    r"""Words that others wrote, in a line or a cell of Markdown: nothing in them is a mark, HTML or a control letter.

    >>> inline("a_b <script>"), inline("\u202egnp")
    ('a\\_b &lt;script&gt;', '\\\\u202egnp')
    """
    whole = words.encode("utf-8", "replace").decode()  # no halves of letters
    shown = _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", " ".join(whole.split()))
    one_line = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]#~])", r"\\\1", one_line)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

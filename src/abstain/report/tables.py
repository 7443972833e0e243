"""Tables in Markdown, and columns on disk, complete or not at all; the ending decides the format."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from abstain._extras import require
from abstain._io.files import check_output_path, check_suffix, write_whole

COLUMNS = (".csv", ".parquet")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")  # also of direction


def markdown_lines(columns: Sequence[str], rows: Iterable[Sequence[str]], /, *, numbers: int = 0) -> list[str]:
    r"""Its lines; the last ``numbers`` columns are set to the right.

    >>> markdown_lines(["score", "AURC"], [["a|b", "1.5"]], numbers=1)
    ['| score | AURC |', '|---|---:|', '| a\\|b | 1.5 |']
    """
    rule = "|" + "---|" * (len(columns) - numbers) + "---:|" * numbers
    return [_line(columns), rule, *map(_line, rows)]


def inline(words: str, /) -> str:
    r"""Words that others wrote, in a line or a cell of Markdown: nothing in them is markup or a control character.

    >>> inline("a_b <script>"), inline("\u202egnp")
    ('a\\_b &lt;script&gt;', '\\\\u202egnp')
    """
    whole = words.encode("utf-8", "replace").decode()  # no unpaired surrogates
    shown = _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", " ".join(whole.split()))
    one_line = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]#~])", r"\\\1", one_line)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def check_table(file: Path, endings: Sequence[str] = COLUMNS, /) -> None:
    """What would stop a table from being written, before anything is computed for it."""
    check_suffix("--output", file, endings)
    if file.suffix.lower() == ".parquet":
        require("polars", extra="scale", feature="Writing Parquet")
    check_output_path(file)


def write_columns(columns: Mapping[str, Sequence[Any]], file: Path, /) -> None:
    """Columns by name, as .csv or .parquet; None is an empty cell."""
    check_table(file)
    if file.suffix.lower() == ".parquet":
        polars, stream = require("polars", extra="scale", feature="Writing Parquet"), BytesIO()
        polars.DataFrame(dict(columns)).write_parquet(stream)  # whose errors on a full disk have many forms
        write_whole(file, lambda partial: partial.write_bytes(stream.getbuffer()))
        return
    write_whole(file, lambda partial: _write_csv(partial, columns))


def _write_csv(file: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with open(file, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))

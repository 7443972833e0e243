"""Rows of a stream of decisions: CSV, Parquet or JSON lines, from a file or as they come."""

import csv
import json
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from abstain.files import reading
from abstain.monitor.row import SOURCES, supplied
from abstain.outputs.column_names import spelled
from abstain.outputs.parquet import read_parquet

BATCH = 10_000
LIVE = "-"
KNOWN = {name for names in SOURCES.values() for name in names}
DECIDED = ("accepted", "reason")  # columns of decisions that no outputs have
Columns = dict[str, Any]


def batches(stream: str, needed: set[str], /) -> Iterator[list[Columns]]:
    """Rows in batches, by line from standard input so that an alarm is told at once.

    Rows that can tell nothing ``needed``, of error, accepted and confidence, are an error.
    """
    rows = _rows(stream, needed)
    while batch := list(islice(rows, 1 if stream == LIVE else BATCH)):
        yield batch


def check_columns(names: Iterable[str], needed: set[str], /) -> None:
    """Something needed must be there, or nothing would ever be counted."""
    if not needed & supplied(names):
        wanted = f"one of the columns {', '.join(sorted(needed))}" if len(needed) > 1 else f"a column {min(needed)}"
        raise ValueError(f"`stream` must have {wanted}, got {', '.join(names) or 'none'}.")


def _rows(stream: str, needed: set[str]) -> Iterator[Columns]:
    path = Path(stream)
    if stream == LIVE:
        yield from _json_lines(sys.stdin, needed)
    elif path.suffix.lower() == ".parquet":
        yield from _parquet(path, needed)
    elif path.suffix.lower() == ".csv":
        with reading(path, "decisions", may_be_pipe=True), open(path, newline="", encoding="utf-8-sig") as file:
            yield from _csv(file, needed)
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        with reading(path, "decisions", may_be_pipe=True), open(path, encoding="utf-8") as file:
            yield from _json_lines(file, needed)
    else:
        raise ValueError(f"`stream` must end in .csv, .parquet or .jsonl, or be -, got {stream}.")


def _parquet(path: Path, needed: set[str]) -> Iterator[Columns]:
    frame = read_parquet(path)
    frame = frame.rename(spelled(frame.columns, also=DECIDED))
    check_columns(frame.columns, needed)
    yield from frame.iter_rows(named=True)


def _csv(lines: Iterable[str], needed: set[str]) -> Iterator[Columns]:
    rows = csv.reader(lines)
    try:
        header = [name.strip() for name in next(rows, [])]
        if len(set(header)) != len(header):
            raise ValueError(f"`stream` must have columns of different names, got {', '.join(header)}.")
        ours = spelled(header, also=DECIDED)
        header = [ours.get(name, name) for name in header]
        check_columns(header, needed)
        for number, row in enumerate(rows, start=1):
            if len(row) == len(header):
                yield dict(zip(header, (cell.strip() for cell in row), strict=True))
            elif row:
                raise ValueError(f"`stream` must have {len(header)} cells per row, got {len(row)} in row {number}.")
    except csv.Error as error:
        raise ValueError(f"`stream` must be a CSV file, got {error}.") from None


def _json_lines(lines: Iterable[str], needed: set[str]) -> Iterator[Columns]:
    """Each row has columns of its own; one of them must be known, and one row must have something needed."""
    names: dict[str, None] = {}
    enough = False
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"`stream` must hold JSON lines, got {error} in line {number}.") from None
        if not isinstance(row, dict):
            raise ValueError(f"`stream` must hold one JSON object per line, got {line.strip()[:40]!r}.")
        ours = spelled(row, also=DECIDED)
        row = {ours.get(name, name): value for name, value in row.items()}
        if not KNOWN & set(row):
            check_columns(row, set(SOURCES))
        names |= dict.fromkeys(row)
        enough = enough or bool(needed & supplied(row))
        yield row
    if names and not enough:
        check_columns(names, needed)

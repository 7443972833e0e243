"""Columns of a file of JSON lines; an error names the line."""

import json
from pathlib import Path
from typing import Any

from abstain._errors import InvalidInputError

SUFFIXES = (".jsonl", ".ndjson")


def read_json_lines(file: Path, /) -> dict[str, list[Any]]:
    """A column for every key, with None in rows that lack it; empty lines are no rows."""
    rows: list[dict[str, Any]] = []
    with open(file, encoding="utf-8-sig") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                rows.append(_row(file, number, line))
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _row(file: Path, number: int, line: str) -> dict[str, Any]:
    try:
        pairs = json.loads(line, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"`{file}` must hold JSON lines, got {error} in line {number}.") from None
    if not isinstance(pairs, dict):
        raise InvalidInputError(
            f"`{file}` must hold one JSON object per line, got {line.strip()[:40]!r} in line {number}."
        )
    return {name.strip(): value for name, value in pairs.items()}


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a key that occurs twice would hide a value."""
    values = dict(pairs)
    if len(values) != len(pairs):
        twice = next(name for name, _ in pairs if sum(other == name for other, _ in pairs) > 1)
        raise InvalidInputError(f"the key {twice!r} twice")
    return values

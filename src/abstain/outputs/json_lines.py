"""Columns of a file of JSON lines; an error names the line."""

import json
from pathlib import Path
from typing import Any

from abstain._errors import InvalidInputError
from abstain._io.records import as_columns

SUFFIXES = (".jsonl", ".ndjson")


def read_json_lines(file: Path, /) -> dict[str, list[Any]]:
    """A column for every key, with None in rows that lack it; empty lines are no rows.

    Keys that differ only in capitals are one column, named as first spelled, unless a row has several of them.
    """
    rows: list[dict[str, Any]] = []
    with open(file, encoding="utf-8-sig") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                rows.append(_row(file, number, line))
    return as_columns(_spelled_alike(rows))


def _spelled_alike(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    doubled = [row for row in rows if len({key.lower() for key in row}) < len(row)]
    second = {key for row in doubled for key in row if _is_second(key, row)}
    first: dict[str, str] = {}
    return [
        {key if key in second else first.setdefault(key.lower(), key): value for key, value in row.items()}
        for row in rows
    ]


def _is_second(key: str, row: dict[str, Any]) -> bool:
    """Whether the row has another spelling of the key before it."""
    return next(name for name in row if name.lower() == key.lower()) != key


def _row(file: Path, number: int, line: str) -> dict[str, Any]:
    try:
        pairs = json.loads(line, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        raise InvalidInputError(
            f"`{file}` must hold JSON lines, got {error.msg} at column {error.colno} in line {number}."
        ) from None
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"`{file}` must hold JSON lines, got {error} in line {number}.") from None
    if not isinstance(pairs, dict):
        raise InvalidInputError(
            f"`{file}` must hold one JSON object per line, got {line.strip()[:40]!r} in line {number}."
        )
    return pairs


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a key that occurs twice, spaces around it ignored, is refused, as it would hide a value."""
    names = [name.strip() for name, _ in pairs]
    values = dict(zip(names, (value for _, value in pairs), strict=True))
    if len(values) != len(pairs):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInputError(f"the key {twice!r} twice")
    return values

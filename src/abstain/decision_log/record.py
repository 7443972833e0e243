"""A line of a log: one decision, or one label, as a JSON object with a sequence number."""

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

Columns = Mapping[str, Sequence[Any]]
Record = dict[str, Any]
SEQUENCE = "sequence"
HEAD = b'{"sequence": '
"""How every line begins."""
AUDITED = "audit"
"""What the column review has for accepted rows that were drawn for a label."""
COLUMNS = (SEQUENCE, "time", "threshold", "selector")
"""Columns that a log has besides those of a table of decisions."""


def rows_of(columns: Columns, /) -> list[Record]:
    """The rows of columns."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def log_lines(rows: Sequence[Record], /, *, first: int, **facts: str) -> list[bytes]:
    r"""Lines of rows, numbered from ``first``, with ``facts`` that all of them share.

    A number that is not finite, which JSON cannot hold, is one of the strings "nan", "inf" and "-inf".

    >>> log_lines([{"id": "a", "confidence": float("nan")}], first=7, time="2026-01-01")
    [b'{"sequence": 7, "time": "2026-01-01", "id": "a", "confidence": "nan"}\n']
    """
    records = (
        {SEQUENCE: number, **facts} | {name: _written(value) for name, value in row.items()}
        for number, row in enumerate(rows, start=first)
    )
    return [json.dumps(record).encode() + b"\n" for record in records]


def record_of(line: bytes | str, /) -> Record | None:
    """The record in a line; None where the line was not written whole."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and type(record.get(SEQUENCE)) is int else None


def is_label(record: Mapping[str, Any], /) -> bool:
    """Whether a record is the label of an earlier decision."""
    return "accepted" not in record


def _written(value: Any) -> Any:
    if type(value) is not float:
        return value.item() if hasattr(value, "item") else value
    return value if isfinite(value) else str(value)

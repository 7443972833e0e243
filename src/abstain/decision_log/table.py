"""A whole log as a table of decisions, each with its label where that has come."""

from collections.abc import Iterator
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from typing import Any

from abstain._extras import require
from abstain._io.records import as_columns
from abstain.decision_log.parts import log_parts
from abstain.decision_log.record import Record, is_label, record_of

LABEL = "error"


def read_log(log: Path, /) -> dict[str, list[Any]]:
    """Columns of all decisions, in order; the column ``error`` has the labels that came later, by id.

    Parameters
    ----------
    log : Path
        The file of JSON lines, or the folder of a Parquet log.

    Returns
    -------
    dict of list
        By name of the column.
    """
    decisions: list[Record] = []
    waiting: dict[str, list[Record]] = {}
    for record in log_records(log):
        if not is_label(record):
            decisions.append(record)
            if record.get(LABEL) is None:
                waiting.setdefault(record["id"], []).append(record)
            continue
        for decision in waiting.get(record["id"], ()):
            decision[LABEL] = record[LABEL]
    return as_columns(decisions)


def log_records(log: Path, /) -> Iterator[Record]:
    """All records, in order of their sequence numbers."""
    for part in log_parts(log):
        yield from part_records(part)


def part_records(part: Path | list[str], /) -> Iterator[Record]:
    """The records of one part, read as they are asked for."""
    if isinstance(part, Path) and part.suffix.lower() == ".parquet":
        rows = require("polars", extra="scale", feature="Reading a Parquet log").read_parquet(part)
        for row in rows.iter_rows(named=True):
            yield {name: value for name, value in row.items() if value is not None}
        return
    with nullcontext(part) if isinstance(part, list) else open(part, encoding="utf-8") as lines:
        yield from (record for line in lines if (record := record_of(line)) is not None)


def write_parquet(records: list[Record], file: Path, /) -> None:
    """Records as a Parquet file, with numbers that are not finite as numbers."""
    polars = require("polars", extra="scale", feature="Writing a Parquet log")
    columns = as_columns(records)
    for name in {"confidence", "threshold", "inclusion", "loss"} & columns.keys():
        columns[name] = [None if value is None else float(value) for value in columns[name]]
    contents = BytesIO()  # written at once below: a full disk is then an OSError, as everywhere
    polars.DataFrame(columns, strict=False).write_parquet(contents)
    file.write_bytes(contents.getbuffer())

"""A whole log as a table of decisions, each with its label where that has come."""

from pathlib import Path
from typing import Any

from abstain._extras import require
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
    names = dict.fromkeys(name for record in decisions for name in record)
    return {name: [record.get(name) for record in decisions] for name in names}


def log_records(log: Path, /) -> list[Record]:
    """All records, in order of their sequence numbers."""
    records: list[Record] = []
    for part in log_parts(log):
        records += part_records(part)
    return records


def part_records(part: Path | list[str], /) -> list[Record]:
    """The records of one part."""
    if isinstance(part, list):
        return [record for line in part if (record := record_of(line)) is not None]
    if part.suffix.lower() != ".parquet":
        return part_records(part.read_text(encoding="utf-8").splitlines())
    rows = require("polars", extra="scale", feature="Reading a Parquet log").read_parquet(part).to_dicts()
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def write_parquet(records: list[Record], file: Path, /) -> None:
    """Records as a Parquet file, with numbers that are not finite as numbers."""
    polars = require("polars", extra="scale", feature="Writing a Parquet log")
    names = dict.fromkeys(name for record in records for name in record)
    columns = {name: [record.get(name) for record in records] for name in names}
    for name in ("confidence", "threshold", "inclusion"):
        if name in columns:
            columns[name] = [None if value is None else float(value) for value in columns[name]]
    polars.DataFrame(columns).write_parquet(file)

"""Parquet files, read by Arrow: their size is checked before memory is taken, and failures have one form.

Not by Polars, which panics on some damaged files and then prints to the standard error of the process.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from abstain._errors import InvalidInputError
from abstain._extras import require
from abstain._io.files import reading
from abstain.outputs.arrays import check_memory, is_bomb, size_text

WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 16}
"""Bytes of a value in memory by its physical type; for a string without its characters."""


def read_parquet(file: Path, /) -> Any:
    """The Polars frame in a file; an error where it is damaged or larger than the free memory."""
    polars = require("polars", extra="scale", feature="Reading Parquet")
    with _opened(file) as opened:
        check_footer(opened.metadata, file.stat().st_size)
        check_memory(_size(opened.metadata))
        table = opened.read().replace_schema_metadata()
        table.validate(full=True)  # Polars panics at texts and names that are not in UTF-8, and prints that
        _check_names(table.schema)
        _check_ranges(table, opened.metadata)
        return polars.from_arrow(table)


def parquet_names(file: Path, /) -> list[str]:
    """The names of its columns, from the footer alone."""
    with _opened(file) as opened:
        return list(opened.schema_arrow.names)


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    """The open file inside the context; any failure there is an error that it must be a Parquet file."""
    arrow = require("pyarrow", extra="scale", feature="Reading Parquet")
    parquet = require("pyarrow.parquet", extra="scale", feature="Reading Parquet")
    with reading(file, "a Parquet file"), open(file, "rb"):
        try:
            with arrow.OSFile(str(file), "rb") as stream:  # a file of Python's would abort at exit, after Polars
                yield parquet.ParquetFile(stream, page_checksum_verification=True)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic is no Exception
            reason = " ".join(str(error).split()).rstrip(".")
            raise InvalidInputError(f"`{file}` must be a Parquet file, got {reason}. Write it again.") from None


def check_footer(metadata: Any, stored: int, /) -> None:
    """Refuse a file of ``stored`` bytes whose row groups have other rows than it states, or far too many."""
    rows = sum(metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))
    if rows != metadata.num_rows:
        raise InvalidInputError(f"row groups of {rows:,} rows, stated to be {metadata.num_rows:,}")
    if is_bomb(stored, size := _size(metadata)):
        raise InvalidInputError(
            f"{size_text(stored)} that would become {size_text(size)}, which only a file without compression and "
            "dictionaries may hold"
        )


def _check_names(fields: Iterable[Any]) -> None:
    """Read the names of all columns and nested fields; one that is not in UTF-8 is an error."""
    for field in fields:
        if field.name is not None:
            _check_names(field.type.field(index) for index in range(field.type.num_fields))


def _check_ranges(table: Any, metadata: Any) -> None:
    """Refuse numbers outside the range that the file states: a damaged description reads other numbers."""
    from pyarrow import compute, types

    for column in range(metadata.num_columns):
        name = metadata.schema.column(column).path
        if name not in table.column_names or not (kind := table.schema.field(name).type) or not len(table):
            continue
        if not (types.is_float32(kind) or types.is_float64(kind) or types.is_signed_integer(kind)):
            continue
        stated = [metadata.row_group(group).column(column).statistics for group in range(metadata.num_row_groups)]
        if not all(each is not None and each.has_min_max for each in stated):
            continue
        extremes = compute.min_max(table[name]).as_py()
        low, high = min(each.min for each in stated), max(each.max for each in stated)
        if extremes["min"] is not None and (extremes["min"] < low or extremes["max"] > high):
            raise InvalidInputError(
                f"numbers from {extremes['min']:g} to {extremes['max']:g} in column {name}, stated to be from "
                f"{low:g} to {high:g}"
            )


def _size(metadata: Any) -> int:
    """Bytes that all columns take in memory, at least."""
    total = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for index in range(metadata.num_columns):
            column = group.column(index)
            width = WIDTHS.get(column.physical_type) or metadata.schema.column(index).length
            total += max(0, column.num_values) * width
    return total

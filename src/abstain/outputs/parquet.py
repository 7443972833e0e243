"""Parquet files, read by Arrow: their size is checked before memory is taken, and failures have one form.

Not by Polars, which panics on some damaged files and then prints to the standard error of the process.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from abstain.extras import require
from abstain.files import reading
from abstain.outputs.arrays import check_expansion, check_memory

WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 16}
"""Bytes of a value in memory by its physical type; of a text beside its characters."""


def read_parquet(file: Path, /) -> Any:
    """The frame in a file; a damaged one, or one that would fill the memory, is a ValueError."""
    polars = require("polars", extra="scale", feature="Reading Parquet")
    with _opened(file) as opened:
        size = _size(opened.metadata)
        check_expansion(file.name, file.stat().st_size, size)
        check_memory(size)
        table = opened.read().replace_schema_metadata()
        table.validate(full=True)  # Polars panics at texts and names that are not in UTF-8, and prints that
        _check_names(table.schema)
        return polars.from_arrow(table)


def parquet_names(file: Path, /) -> list[str]:
    """The names of its columns, from the footer alone."""
    with _opened(file) as opened:
        return list(opened.schema_arrow.names)


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    """The file inside the context; whatever fails there says that it must be a Parquet file."""
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
            raise ValueError(f"`{file}` must be a Parquet file, got {reason}. Write it again.") from None


def _check_names(fields: Iterable[Any]) -> None:
    """Of columns and of what they are made of: one that is not in UTF-8 is an error."""
    for field in fields:
        if field.name is not None:
            _check_names(field.type.field(place) for place in range(field.type.num_fields))


def _size(metadata: Any) -> int:
    """Bytes that all columns take in memory, at least."""
    total = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for place in range(metadata.num_columns):
            column = group.column(place)
            width = WIDTHS.get(column.physical_type) or metadata.schema.column(place).length
            total += max(0, column.num_values) * width
    return total

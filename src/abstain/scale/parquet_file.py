"""A Parquet file, opened and read some rows at a time; a damaged one is an error that names it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from abstain._errors import FileAccessError, InvalidInputError, MissingFileError
from abstain._extras import require
from abstain.outputs.parquet import check_footer

READ_AT_ONCE = 1 << 20  # bytes of a column: a row group may be larger than memory


@contextmanager
def opened(system: Any, path: str, name: str, /) -> Iterator[Any]:
    """The file inside the context; it is called ``name`` in errors."""
    parquet = require("pyarrow.parquet", extra="scale", feature="Reading Parquet files")
    with _whole(name):
        stream = system.open_input_file(path)
    with stream:
        with _whole(name):
            file = parquet.ParquetFile(stream, buffer_size=READ_AT_ONCE, page_checksum_verification=True)
            check_footer(file.metadata, stream.size())
        yield file


def row_batches(file: Any, name: str, /, *, groups: range, columns: tuple[str, ...], size: int) -> Iterator[Any]:
    """Frames of at most ``size`` rows of some row groups."""
    polars = require("polars", extra="scale", feature="Reading Parquet files")
    arrow = require("pyarrow", extra="scale", feature="Reading Parquet files")
    with _whole(name):
        batches = file.iter_batches(size, row_groups=[*groups], columns=[*columns], use_threads=False)
    while True:
        with _whole(name, groups):
            batch = next(batches, None)
            frame = None if batch is None else polars.from_arrow(arrow.Table.from_batches([batch]))
        if frame is None:
            return
        yield frame


@contextmanager
def _whole(name: str, groups: range | None = None) -> Iterator[None]:
    """Errors of reading, in one form."""
    where = "" if groups is None else f" in row group {groups.start}" + f" to {groups.stop - 1}" * (len(groups) > 1)
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except FileNotFoundError:
        raise MissingFileError(f"`{name}` must exist, got no such file.") from None
    except PermissionError:
        raise FileAccessError(f"`{name}` must be a readable Parquet file, got no permission.") from None
    except BaseException as error:  # a panic is no Exception
        reason = " ".join(str(error).split()).rstrip(".")
        raise InvalidInputError(
            f"`{name}` must be a valid Parquet file, got {reason}{where}. Write it again."
        ) from None

"""Parquet files, read by Polars, whose failures take many forms."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from abstain.extras import require
from abstain.files import reading


def read_parquet(file: Path, /) -> Any:
    """The frame in a file; a damaged one is a ValueError, also where the library panics."""
    polars = require("polars", extra="scale", feature="Reading Parquet")
    return _read(file, polars.read_parquet)


def parquet_names(file: Path, /) -> list[str]:
    """The names of its columns, from the footer alone."""
    polars = require("polars", extra="scale", feature="Reading Parquet")
    return list(_read(file, polars.read_parquet_schema))


def _read(file: Path, reads: Callable[[BinaryIO], Any]) -> Any:
    with reading(file, "a Parquet file"), open(file, "rb") as stream:
        try:
            with _silence():
                return reads(stream)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic is no Exception
            reason = " ".join(str(error).split()).rstrip(".")
            raise ValueError(f"`{file}` must be a Parquet file, got {reason}. Write it again.") from None


@contextmanager
def _silence() -> Iterator[None]:
    """Standard error closed for the time of a with block, since a panic prints its stack past Python."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)

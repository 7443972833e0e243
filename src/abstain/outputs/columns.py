"""Columns of a .csv or .parquet file, each read as what it must be, or an error that names the row."""

import csv
import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from abstain.arguments import EXACT, written_number
from abstain.files import reading
from abstain.outputs.parquet import parquet_names, read_parquet
from abstain.outputs.row_error import RowError

SUFFIXES = (".csv", ".parquet")
LISTED = "[…]"  # stands for a list where a text should be
TRUTH = {"1": 1.0, "1.0": 1.0, "true": 1.0, "yes": 1.0, "0": 0.0, "0.0": 0.0, "false": 0.0, "no": 0.0}
FLOATS = ("Float16", "Float32", "Float64")
NUMBERS = (*FLOATS, "Int64", "Int32", "Int16", "Int8", "UInt32", "UInt16", "UInt8")
FEW = 4  # rows for each different text, at least, for it to pay to look at each once
LONGEST_FIELD = 1 << 30  # characters
Name = str | PathLike[str]
Columns = dict[str, Any]
"""Lists of values, or Polars series, by name."""


def columns_of(file: Path, /) -> Columns:
    """All columns, as they are stored."""
    if file.suffix.lower() == ".parquet":
        frame = read_parquet(file)
        return {name: frame[name] for name in frame.columns}
    with reading(file, "a table"):
        return _csv(file)


def names_of(file: Path, /) -> list[str]:
    """The names of all columns, without the rest."""
    if file.suffix.lower() == ".parquet":
        return parquet_names(file)
    with reading(file, "a table"), open(file, newline="", encoding="utf-8-sig") as stream:
        _allow_long_fields()
        return [name.strip() for name in next(csv.reader(stream, delimiter=delimiter_of(stream)), [])]


def delimiter_of(stream: TextIO, /) -> str:
    """What stands between the names in the first line of a .csv file: a comma, or a semicolon or tab if it has none.

    >>> from io import StringIO
    >>> [delimiter_of(StringIO(line)) for line in ("id,a;b", "id;a;b", "confidence")]
    [',', ';', ',']
    """
    first = stream.readline()
    stream.seek(0)
    return next((sign for sign in ",;\t" if sign in first), ",")


def _csv(file: Path) -> Columns:
    with open(file, newline="", encoding="utf-8-sig") as stream:
        reader = csv.reader(stream, strict=True, delimiter=delimiter_of(stream))
        _allow_long_fields()
        try:
            names = [name.strip() for name in next(reader, [])]
            rows = [row for row in reader if row]
        except csv.Error as error:
            raise ValueError(
                f"`{file}` must be a table of comma-separated values, got {error} in line {reader.line_num}."
            ) from None
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise ValueError(f"`{file}` must have {len(names)} values in each row, got {len(row)} in row {number}.")
    if len(set(names)) != len(names):
        raise ValueError(f"`{file}` must have columns of different names, got {', '.join(names)}.")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _allow_long_fields() -> None:
    """A column that nobody looks at may hold whole documents; the limit, one for the process, is only ever raised."""
    if csv.field_size_limit() < LONGEST_FIELD:
        csv.field_size_limit(LONGEST_FIELD)


def numbers(file: Name, name: str, columns: Columns, /) -> NDArray[np.float64]:
    """(n,) numbers, NaN where there is none."""
    found = _stored_numbers(columns[name])
    if found is None or (found.dtype.kind in "iu" and ((found > EXACT) | (found < -EXACT)).any()):
        return _each(file, name, columns, _number)
    return found.astype(np.float64)


def truths(file: Name, name: str, columns: Columns, /) -> NDArray[np.float64]:
    """(n,) 1 and 0 from 1/0, true/false or yes/no."""
    return _each(file, name, columns, _truth)


def names(file: Name, name: str, columns: Columns, /) -> NDArray[np.str_]:
    """(n,) texts, none of them empty; a whole number is the same however it is written."""
    values, places = _distinct(columns[name])
    found = [text(value) for value in values]
    for number, value in enumerate(found):
        if value is not None and "\0" not in value and value != LISTED:
            continue
        row = 1 + (number if places is None else int(np.argmax(places == number)))
        if value is None:
            raise RowError(f"`{file}` must have a value in column {name} of every row, got none in row", row)
        what = "a list" if value == LISTED else repr(value)[:60]
        raise RowError(f"`{file}` must have texts without NUL in column {name}, got {what} in row", row)
    texts = np.array(found, dtype=str)
    return texts if places is None else texts[places]


def _distinct(values: Any) -> tuple[Any, NDArray[np.int64] | None]:
    """The different values in the order of their first rows, and which one each row has; None if that is each row."""
    if str(getattr(values, "dtype", "")) not in ("String", "Int64", "Int32"):
        return values, None
    unique = values.unique(maintain_order=True)
    if len(unique) > len(values) // FEW:
        return values, None
    codes = values.replace_strict(unique, np.arange(len(unique)))
    return unique, codes.to_numpy()


def text(value: Any, /) -> str | None:
    """A cell as text, None where it is empty or NaN: 3, 3.0 and "3.0" are all the same."""
    if value is None or (isinstance(value, float) and value != value):
        return None
    if hasattr(value, "__len__") and not isinstance(value, str | bytes):
        return LISTED
    found = str(value).strip()
    return (re.sub(r"^(-?\d+)\.0+$", r"\1", found) if found.endswith("0") and "." in found else found) or None


def matrix(file: Name, name: str, columns: Columns, /) -> NDArray[np.floating]:
    """(n, k) numbers from a column of lists of one length."""
    found = _stored_matrix(columns[name])
    if found is not None:
        return found
    rows = list(columns[name])
    sizes = [len(row) if hasattr(row, "__len__") and not isinstance(row, str) else -1 for row in rows]
    usual = max(set(sizes), key=sizes.count, default=-1)
    if usual < 1 or len(set(sizes)) != 1:
        bad = next((row for row, size in enumerate(sizes, start=1) if size != usual), 1)
        raise RowError(f"`{file}` must have lists of one length in column {name}, got another in row", bad)
    try:
        found = np.array([np.asarray(row, dtype=np.float64) for row in rows])
    except (ValueError, TypeError):
        raise ValueError(f"`{file}` must have lists of numbers in column {name}, got others.") from None
    inner = getattr(getattr(columns[name], "dtype", None), "inner", None)
    return found.astype(np.float32) if str(inner) == "Float32" else found


def _stored_numbers(values: Any) -> NDArray[np.floating] | None:
    """A column that is stored as floats or whole numbers, NaN where there is none; None where it is not."""
    dtype = getattr(values, "dtype", None)
    if dtype is None or str(dtype) not in NUMBERS:
        return None
    return np.asarray(values.to_numpy())


def _stored_matrix(values: Any) -> NDArray[np.floating] | None:
    """A column that is stored as lists of floats, all of one length and without a gap; None where it is not."""
    inner = getattr(getattr(values, "dtype", None), "inner", None)
    if str(inner) not in FLOATS or not len(values) or values.null_count():
        return None
    sizes = values.arr.len() if hasattr(values.dtype, "size") else values.list.len()
    k = int(sizes[0])
    if not k or not (sizes == k).all():
        return None
    flat = values.explode()
    if flat.null_count():
        return None
    return np.asarray(flat.to_numpy()).reshape(len(values), k)


def _each(file: Name, name: str, columns: Columns, reads: Callable[[Any], float]) -> NDArray[np.float64]:
    values = np.empty(len(columns[name]))
    for row, value in enumerate(columns[name]):
        try:
            values[row] = reads(value)
        except (ValueError, TypeError) as error:
            what = str(reads.__doc__).rstrip(".").lower()
            why = ", which float64 cannot hold. Write ranks instead." if "exact" in str(error) else "."
            rule = f"`{file}` must have {what} in column {name}, got {value!r:.60} in row"
            raise RowError(rule, row + 1, why) from None
    return values


def _number(value: Any) -> float:
    """Numbers."""
    return float("nan") if value is None or value == "" else written_number(value)


def _truth(value: Any) -> float:
    """Truth values: 1/0, true/false or yes/no."""
    if str(value).strip().lower() not in TRUTH:
        raise ValueError
    return TRUTH[str(value).strip().lower()]

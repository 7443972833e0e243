"""`Table`: the columns of a .csv, .parquet or .jsonl file, each read as its type; an error names the row."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import BOOLEANS, DECIMAL_COMMA, EXACT, written_number
from abstain._errors import InvalidInputError, RowError
from abstain._io.files import reading
from abstain.decision_log import is_log, read_log
from abstain.outputs.column_names import spelled
from abstain.outputs.csv_file import csv_names, read_csv
from abstain.outputs.json_lines import SUFFIXES as JSON_LINES
from abstain.outputs.json_lines import read_json_lines
from abstain.outputs.parquet import parquet_names, read_parquet

SUFFIXES = (".csv", ".parquet", *JSON_LINES)
LISTED = "[…]"  # stands for a list where a string should be
TRUTH = {"1": 1.0, "1.0": 1.0, "true": 1.0, "yes": 1.0, "0": 0.0, "0.0": 0.0, "false": 0.0, "no": 0.0}
FLOATS = ("Float16", "Float32", "Float64")
NUMBERS = (*FLOATS, "Int64", "Int32", "Int16", "Int8", "UInt32", "UInt16", "UInt8")
FEW = 4  # rows per distinct string, at least, for which reading each string once is faster
LISTED_NAMES = 20  # of columns, in a message
Columns = dict[str, Any]
"""Lists of values, or Polars series, by name."""


def columns_of(file: Path, /) -> Columns:
    """All columns as they are stored; for a log of decisions, those of all its parts."""
    if is_log(file):
        return read_log(file)
    if file.suffix.lower() == ".parquet":
        frame = read_parquet(file)
        return {name: frame[name] for name in frame.columns}
    with reading(file, "a table"):
        return read_json_lines(file) if file.suffix.lower() in JSON_LINES else read_csv(file)


def names_of(file: Path, /) -> list[str]:
    """The names of all columns; where the format allows it, nothing else is read."""
    if is_log(file):
        return list(columns_of(file))
    if file.suffix.lower() == ".parquet":
        return parquet_names(file)
    if file.suffix.lower() in JSON_LINES:
        return list(columns_of(file))
    with reading(file, "a table"):
        return csv_names(file)


@final
@dataclass(frozen=True, eq=False)
class Table:
    """Columns by their usual names, and the file that errors name."""

    file: str | PathLike[str]
    columns: Columns

    @classmethod
    def of(cls, file: str | PathLike[str], columns: Columns, /) -> Self:
        """Columns of a file, for all of its rows or consecutive ones."""
        usual = spelled(columns)
        return cls(file, {usual.get(name, name): values for name, values in columns.items()})

    @classmethod
    def read(cls, file: Path, /) -> Self:
        """All columns of a file."""
        return cls.of(file, columns_of(file))

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> Any:
        """A column as it is stored; an error where there is none of that name."""
        if name not in self.columns:
            raise self.lacks(name)
        return self.columns[name]

    def lacks(self, what: str, advice: str = "", /) -> InvalidInputError:
        """The error where a column is missing."""
        shown = list(self.columns)[:LISTED_NAMES]
        more = f" and {len(self.columns) - LISTED_NAMES} more" if len(self.columns) > LISTED_NAMES else ""
        got = f"{', '.join(shown)}{more}" or "none"
        return InvalidInputError(f"`{self.file}` must have a column {what}, got {got}.{advice}")

    def numbers(self, name: str, /) -> NDArray[np.float64]:
        """(n,) numbers, NaN where there is none."""
        stored = _stored_numbers(self[name])
        if stored is None or (stored.dtype.kind in "iu" and ((stored > EXACT) | (stored < -EXACT)).any()):
            return self._each(name, _number, "numbers")
        return stored.astype(np.float64)

    def truths(self, name: str, /, *, missing: bool = False) -> NDArray[np.float64]:
        """(n,) 1 and 0 from 1/0, true/false or yes/no; NaN for an empty cell where some may be ``missing``."""
        if missing:
            return self._each(name, _truth_or_missing, "truth values: 1/0, true/false, yes/no or nothing")
        return self._each(name, _truth, "truth values: 1/0, true/false or yes/no")

    def names(self, name: str, /) -> NDArray[np.str_]:
        """(n,) strings, none of them empty; 3, 3.0 and "3.0" are the same."""
        values, codes = _distinct(self[name])
        cells = [text(value) for value in values]
        for number, value in enumerate(cells):
            if value is not None and "\0" not in value and value != LISTED:
                continue
            row = 1 + (number if codes is None else int(np.argmax(codes == number)))
            if value is None:
                raise RowError(f"`{self.file}` must have a value in column {name} of every row, got none in row", row)
            what = "a list" if value == LISTED else repr(value)[:60]
            raise RowError(f"`{self.file}` must have strings without NUL in column {name}, got {what} in row", row)
        strings = np.array(cells, dtype=str)
        return strings if codes is None else strings[codes]

    def matrix(self, name: str, /) -> NDArray[np.floating]:
        """(n, k) numbers from a column of lists of one length."""
        column = self[name]
        stored = _stored_matrix(column)
        if stored is not None:
            return stored
        rows = list(column)
        sizes = [len(row) if hasattr(row, "__len__") and not isinstance(row, str) else -1 for row in rows]
        usual = max(set(sizes), key=sizes.count, default=-1)
        if usual < 1 or len(set(sizes)) != 1:
            bad = next((row for row, size in enumerate(sizes, start=1) if size != usual), 1)
            raise RowError(f"`{self.file}` must have lists of one length in column {name}, got another in row", bad)
        try:
            values = np.array([np.asarray(row, dtype=np.float64) for row in rows])
        except (ValueError, TypeError) as error:
            raise InvalidInputError(
                f"`{self.file}` must have lists of numbers in column {name}, got {error}."
            ) from None
        inner = getattr(getattr(column, "dtype", None), "inner", None)
        return values.astype(np.float32) if str(inner) == "Float32" else values

    def _each(self, name: str, read: Callable[[Any], float], what: str) -> NDArray[np.float64]:
        values = np.empty(len(self[name]))
        for row, value in enumerate(self[name]):
            try:
                values[row] = read(value)
            except (ValueError, TypeError) as error:
                rule = f"`{self.file}` must have {what} in column {name}, got {value!r:.60} in row"
                raise RowError(rule, row + 1, _why(str(error))) from None
        return values


def _distinct(values: Any) -> tuple[Any, NDArray[np.int64] | None]:
    """The distinct values and the code of each row; all values and None where few repeat."""
    if str(getattr(values, "dtype", "")) not in ("String", "Int64", "Int32"):
        return values, None
    unique = values.unique(maintain_order=True)
    if len(unique) > len(values) // FEW:
        return values, None
    codes = values.replace_strict(unique, np.arange(len(unique)))
    return unique, codes.to_numpy()


def text(value: Any, /) -> str | None:
    """A cell as text, None where it is empty or NaN: 3, 3.0 and "3.0" are all the same, as are True and "true".

    >>> [text(value) for value in (3, "3.0", True, "true", "TRUE", "")]
    ['3', '3', 'True', 'True', 'TRUE', None]
    """
    if value is None or (isinstance(value, float) and value != value):
        return None
    if hasattr(value, "__len__") and not isinstance(value, str | bytes):
        return LISTED
    cell = str(value).strip()
    if cell in BOOLEANS:
        return BOOLEANS[cell]
    return (re.sub(r"^(-?\d+)\.0+$", r"\1", cell) if cell.endswith("0") and "." in cell else cell) or None


def _stored_numbers(values: Any) -> NDArray[np.floating] | None:
    """A column stored as floats or integers, NaN where a value is missing; None for any other column."""
    dtype = getattr(values, "dtype", None)
    if dtype is None or str(dtype) not in NUMBERS:
        return None
    return np.asarray(values.to_numpy())


def _stored_matrix(values: Any) -> NDArray[np.floating] | None:
    """A column stored as lists of floats, all of one length and none missing; None for any other column."""
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


def _why(problem: str) -> str:
    """What more there is to say of a cell that cannot be read."""
    if "exact" in problem:
        return ", which float64 cannot hold. Write ranks instead."
    return f", {DECIMAL_COMMA}" if DECIMAL_COMMA in problem else "."


def _number(value: Any) -> float:
    return float("nan") if value is None or value == "" else written_number(value)


def _truth(value: Any) -> float:
    if str(value).strip().lower() not in TRUTH:
        raise ValueError
    return TRUTH[str(value).strip().lower()]


def _truth_or_missing(value: Any) -> float:
    return float("nan") if text(value) is None else _truth(value)

"""Tables of confidences: .csv or .parquet, from anything that says how sure it is."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from abstain.files import reading
from abstain.outputs.parquet import read_parquet

SUFFIXES = (".csv", ".parquet")
GROUPS = ("group", "domain")
TRUTH = {"1": 1.0, "1.0": 1.0, "true": 1.0, "yes": 1.0, "0": 0.0, "0.0": 0.0, "false": 0.0, "no": 0.0}
UNDERSTOOD = ("confidence", "correct", "error", "id", *GROUPS, "shift")


def read_table(file: Path, /) -> dict[str, Any]:
    """The arguments of `Outputs` from a table with a column ``confidence``.

    ``correct`` or ``error`` says whether the answer was right, 1/0, true/false or yes/no; ``id`` names the original
    sample, ``group`` (or ``domain``) where it is from, ``shift`` the kind of shift. Other columns are not looked at. An
    empty confidence is that of a row which is not usable.
    """
    columns = _columns(file)
    if "confidence" not in columns:
        raise ValueError(
            f"`{file}` must have a column confidence, got {', '.join(columns) or 'none'}. Also understood: "
            f"{', '.join(UNDERSTOOD[1:])}."
        )
    if not columns["confidence"]:
        raise ValueError(f"`{file}` must have at least one row, got none.")
    found: dict[str, Any] = {"given": {"confidence": _each(file, "confidence", columns, _number)}}
    if "correct" in columns and "error" in columns:
        raise ValueError(f"`{file}` must have a column correct or a column error, got both.")
    if "correct" in columns:
        found["errors"] = 1 - _each(file, "correct", columns, _truth)
    if "error" in columns:
        found["errors"] = _each(file, "error", columns, _truth)
    if "group" in columns and "domain" in columns:
        raise ValueError(f"`{file}` must have a column group or a column domain, got both.")
    for name, argument in (("id", "ids"), ("group", "domain"), ("domain", "domain"), ("shift", "shift")):
        if name in columns:
            found[argument] = _names(file, name, columns)
    return found


def read_columns(
    file: Path, /, *, numbers: tuple[str, ...] = (), truths: tuple[str, ...] = (), texts: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Columns that a table must have, each of its kind."""
    columns = _columns(file)
    if missing := [name for name in (*numbers, *truths, *texts) if name not in columns]:
        raise ValueError(f"`{file}` must have a column {missing[0]}, got {', '.join(columns) or 'none'}.")
    found: dict[str, Any] = {name: _each(file, name, columns, _number) for name in numbers}
    found |= {name: _each(file, name, columns, _truth) for name in truths}
    return found | {name: _names(file, name, columns) for name in texts}


def _columns(file: Path) -> dict[str, list[Any]]:
    if file.suffix.lower() == ".parquet":
        frame = read_parquet(file)
        return {name: frame[name].to_list() for name in frame.columns if name in UNDERSTOOD}
    with reading(file, "a table"):
        return _csv(file)


def _csv(file: Path) -> dict[str, list[Any]]:
    with open(file, newline="", encoding="utf-8-sig") as stream:
        reader = csv.reader(stream, strict=True)
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


def _each(file: Path, name: str, columns: dict[str, list[Any]], reads: Callable[[Any], float]) -> Any:
    values = np.empty(len(columns[name]))
    for row, value in enumerate(columns[name]):
        try:
            values[row] = reads(value)
        except (ValueError, TypeError):
            what = str(reads.__doc__).rstrip(".").lower()
            raise ValueError(f"`{file}` must have {what} in column {name}, got {value!r} in row {row + 1}.") from None
    return values


def _names(file: Path, name: str, columns: dict[str, list[Any]]) -> Any:
    for row, value in enumerate(columns[name], start=1):
        if value is None or value == "":
            raise ValueError(f"`{file}` must have a value in column {name} of every row, got none in row {row}.")
        if "\0" in str(value):
            raise ValueError(f"`{file}` must have text without NUL in column {name}, got {value!r:.60} in row {row}.")
    return np.array([str(value) for value in columns[name]])


def _number(value: Any) -> float:
    """Numbers."""
    return float("nan") if value is None or value == "" else float(value)


def _truth(value: Any) -> float:
    """Truth values: 1/0, true/false or yes/no."""
    if str(value).strip().lower() not in TRUTH:
        raise ValueError
    return TRUTH[str(value).strip().lower()]

"""Files of comma-separated values; an error names the line or the row."""

import csv
from pathlib import Path
from typing import TextIO

from abstain._errors import InvalidInputError

LONGEST_FIELD = 1 << 30  # characters


def delimiter_of(stream: TextIO, /) -> str:
    """The separator in the first line of a .csv file: a comma, or a semicolon or tab if it has no comma.

    >>> from io import StringIO
    >>> [delimiter_of(StringIO(line)) for line in ("id,a;b", "id;a;b", "confidence")]
    [',', ';', ',']
    """
    first = stream.readline()
    stream.seek(0)
    return next((sign for sign in ",;\t" if sign in first), ",")


def csv_names(file: Path, /) -> list[str]:
    """The names of its columns, from the first line alone."""
    with open(file, newline="", encoding="utf-8-sig") as stream:
        _allow_long_fields()
        return [name.strip() for name in next(csv.reader(stream, delimiter=delimiter_of(stream)), [])]


def read_csv(file: Path, /) -> dict[str, list[str]]:
    """The cells of all columns as strings."""
    with open(file, newline="", encoding="utf-8-sig") as stream:
        reader = csv.reader(stream, strict=True, delimiter=delimiter_of(stream))
        _allow_long_fields()
        try:
            names = [name.strip() for name in next(reader, [])]
            rows = [row for row in reader if row]
        except csv.Error as error:
            raise InvalidInputError(
                f"`{file}` must be a table of comma-separated values, got {error} in line {reader.line_num}."
            ) from None
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise InvalidInputError(
                f"`{file}` must have {len(names)} values in each row, got {len(row)} in row {number}."
            )
    if len(set(names)) != len(names):
        raise InvalidInputError(f"`{file}` must have columns of different names, got {', '.join(names)}.")
    return {name: [row[index] for row in rows] for index, name in enumerate(names)}


def _allow_long_fields() -> None:
    """Raise the process-wide limit of csv, since a column that is not used may hold whole documents."""
    if csv.field_size_limit() < LONGEST_FIELD:
        csv.field_size_limit(LONGEST_FIELD)

"""An error about one row, which whoever reads a part of a file can tell by its number in the whole."""

from os import PathLike
from typing import Self, final


@final
class RowError(ValueError):
    """What must be, and the number of the first row where it is not.

    >>> error = RowError("`labels` must be below 3, got 7 in row", 2, ". Use a negative one.")
    >>> str(error)
    '`labels` must be below 3, got 7 in row 2. Use a negative one.'
    >>> str(error.within("b.parquet", 100))
    '`labels` must be below 3, got 7 in row 103 of b.parquet. Use a negative one.'
    """

    def __init__(self, before: str, row: int, after: str = ".", /) -> None:
        super().__init__(before, row, after)

    def __str__(self) -> str:
        before, row, after = self.args
        return f"{before} {row}{after}"

    def later(self, rows: int, /) -> Self:
        """The same, where so many rows come before those that were looked at."""
        before, row, after = self.args
        return type(self)(before, row + rows, after)

    def within(self, file: str | PathLike[str], rows: int, /) -> Self:
        """The same for rows of a file, which count from 1, where so many come before those that were looked at."""
        before, row, after = self.args
        return type(self)(before, row + rows + 1, f" of {file}{after}")

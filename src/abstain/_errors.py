"""The errors that abstain raises on purpose, and those of foreign code turned into them.

::

    AbstainError                 everything below; the command prints its message and ends with exit code 1
    ├── InvalidInputError        a value, an option or a file's contents cannot be used (a ValueError)
    │   ├── RowError             … and the row is known
    │   ├── SampleError          `collect` cannot read or classify a sample
    │   ├── ChangedInputsError   `collect` reads an input again and it is another one
    │   ├── CannotFitError       a score cannot be fitted on these outputs
    │   └── CannotDrawError      a figure cannot be drawn from this
    ├── InvalidTypeError         an argument is of the wrong kind (a TypeError)
    ├── InvalidIndexError        a row number is out of range (an IndexError)
    ├── MissingRowError          a result has no such row (a KeyError)
    ├── MissingFileError         a file or folder does not exist (a FileNotFoundError)
    ├── FileConflictError        an output path is taken by something else (a FileExistsError)
    ├── FileAccessError          no permission, or a folder where a file must be, or the reverse (an OSError)
    ├── FileInUseError           another process is at work on a file or folder (a BlockingIOError)
    ├── WorkerDiedError          a worker process was killed (an OSError)
    ├── RequestError             `abstain serve` refuses a request, with a status
    ├── MissingExtraError        an optional package is not installed (an ImportError)
    ├── MissingModuleError       a module of abstain needs such a package (an AttributeError)
    └── NoSafeThresholdError     no threshold satisfies the target on these rows (a ValueError)

A leaf that knows more of its subject is defined there (`CannotFitError`, `CannotDrawError`, `NoSafeThresholdError`);
`abstain.errors` has all of them. Three kinds of others reach a user: an OSError with the name of the file, such as of a
full disk; a MemoryError; and scikit-learn's NotFittedError from `abstain.sklearn`. Anything else is a bug.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Self, final


class AbstainError(Exception):
    """An error that abstain raises on purpose; its message names the rule, the value and the next step."""


class InvalidInputError(AbstainError, ValueError):
    """A value, an option or the contents of a file cannot be used."""


@final
class RowError(InvalidInputError):
    """A rule, and the index of the first row that breaks it.

    Whoever reads a part of a file can give the index in the whole.

    >>> error = RowError("`labels` must be below 3, got 7 in row", 2, ". Use a negative label.")
    >>> str(error)
    '`labels` must be below 3, got 7 in row 2. Use a negative label.'
    >>> str(error.within("b.parquet", 100))
    '`labels` must be below 3, got 7 in row 103 of b.parquet. Use a negative label.'
    """

    def __init__(self, before: str, row: int, after: str = ".", /) -> None:
        super().__init__(before, row, after)

    def __str__(self) -> str:
        before, row, after = self.args
        return f"{before} {row}{after}"

    def later(self, rows: int, /) -> Self:
        """The same error where so many rows come before those that were read."""
        before, row, after = self.args
        return type(self)(before, row + rows, after)

    def within(self, file: str | PathLike[str], rows: int, /) -> Self:
        """The same error for rows of a file, which count from 1, where so many come before those that were read."""
        before, row, after = self.args
        return type(self)(before, row + rows + 1, f" of {file}{after}")


class SampleError(InvalidInputError):
    """A sample could not be read or classified; the message names it."""


class ChangedInputsError(InvalidInputError):
    """An input was read again and came out differently."""


class InvalidTypeError(AbstainError, TypeError):
    """An argument is of the wrong kind."""


class InvalidIndexError(AbstainError, IndexError):
    """A row number is out of range."""


class MissingRowError(AbstainError, KeyError):
    """A result has no such row."""

    __str__ = Exception.__str__  # a KeyError would put quotation marks around the message


class MissingFileError(AbstainError, FileNotFoundError):
    """A file or folder does not exist."""


class FileConflictError(AbstainError, FileExistsError):
    """An output path is taken by something else."""


class FileAccessError(AbstainError, OSError):
    """A file may not be read, or is a folder, or a folder is a file."""


class FileInUseError(AbstainError, BlockingIOError):
    """Another process is at work on a file or folder."""


class WorkerDiedError(AbstainError, OSError):
    """A worker process was killed."""


class RequestError(AbstainError):
    """A request is refused; ``status`` is that of HTTP."""

    def __init__(self, status: int, message: str, /) -> None:
        super().__init__(message)
        self.status = status


class MissingExtraError(AbstainError, ImportError):
    """A feature needs a package that is not installed."""


@final
class MissingModuleError(AbstainError, AttributeError):
    """An attribute of `abstain` is a module that needs a package that is not installed."""


@contextmanager
def foreign(rule: str, /) -> Iterator[None]:
    """Inside the context, errors of foreign code become an `InvalidInputError`: the ``rule``, then the reason."""
    try:
        yield
    except (MemoryError, RecursionError, AbstainError):
        raise
    except Exception as error:
        raise InvalidInputError(f"{rule}, got {reason_of(error)}.") from error


def reason_of(error: BaseException, /) -> str:
    """What was got, of an error that is the reason for another one; without the full stop.

    >>> reason_of(InvalidInputError("`k` must be from 1 to 4, got 10. Choose another."))
    '10 where `k` must be from 1 to 4. Choose another'
    >>> reason_of(InvalidInputError("a header with other fields."))
    'a header with other fields'
    >>> reason_of(ValueError("bad shape"))
    'ValueError: bad shape'
    """
    text = " ".join(str(error).split()).rstrip(".")
    if not isinstance(error, AbstainError):
        return f"{type(error).__name__}: {text}"
    parts = re.fullmatch(r"(.+? must .+?), got (.+?)(\. .+)?", text)
    if parts is None:
        return text
    rule, got, advice = parts.groups(default="")
    is_nested = " must " in got
    return f"{got}{advice}" if is_nested else f"{got} where {rule[0].lower()}{rule[1:]}{advice}"

"""Every error that abstain raises on purpose, for callers to catch.

All are `AbstainError`, and each is also the built-in error that fits, so that ``except ValueError`` works too. The tree
is drawn in the docstring of `abstain._errors`.

>>> import abstain
>>> try:
...     abstain.Outputs(logits=[[1.0]])
... except abstain.errors.AbstainError as error:
...     print(type(error).__name__)
InvalidInputError
"""

from abstain._errors import (
    AbstainError,
    ChangedInputsError,
    FileAccessError,
    FileConflictError,
    FileInUseError,
    InvalidIndexError,
    InvalidInputError,
    InvalidTypeError,
    MissingExtraError,
    MissingFileError,
    MissingRowError,
    RequestError,
    RowError,
    SampleError,
    WorkerDiedError,
)
from abstain.report.figures.style import CannotDrawError
from abstain.scores.score import CannotFitError
from abstain.thresholds.refusal import NoSafeThresholdError

__all__ = [
    "AbstainError",
    "CannotDrawError",
    "CannotFitError",
    "ChangedInputsError",
    "FileAccessError",
    "FileConflictError",
    "FileInUseError",
    "InvalidIndexError",
    "InvalidInputError",
    "InvalidTypeError",
    "MissingExtraError",
    "MissingFileError",
    "MissingRowError",
    "NoSafeThresholdError",
    "RequestError",
    "RowError",
    "SampleError",
    "WorkerDiedError",
]

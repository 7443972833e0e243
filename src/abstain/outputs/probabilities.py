"""Probabilities where logits are expected: their logs, and how to know them."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.arguments import as_array
from abstain.kernels.blocks import row_blocks
from abstain.outputs.row_error import RowError
from abstain.outputs.taken import Source
from abstain.outputs.validation import check_columns, check_floats

Array = NDArray[Any]
FEW = 16  # rows to look at first
ROUNDED = 5e-3  # how far rows of rounded probabilities may be from a sum of one
LEAST = 1e-300  # a probability of zero counts as this


def are_probabilities(array: Array, /) -> bool:
    """Whether every row is non-negative and sums to one: a few rows are looked at first, all only if these are."""

    def these(rows: Array) -> bool:
        return bool((rows >= 0).all() and (np.abs(rows.sum(axis=1, dtype=np.float64) - 1) < ROUNDED).all())

    return these(array[:FEW]) and all(these(array[block]) for block in row_blocks(*array.shape))


def are_log_probabilities(array: Source, /) -> bool:
    """Whether the exponentials of every usable row sum to one."""

    def these(rows: Array) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            apart = np.abs(np.exp(rows.astype(np.float64)).sum(axis=1) - 1)
        return not (apart >= ROUNDED).any()  # NaN is a row that is not usable

    return these(array[:FEW]) and all(these(array[block]) for block in row_blocks(*array.shape))


def log_probabilities(values: Any, /) -> Array:
    """The logs of probabilities (n, K), zero counting as the least there is."""
    array = as_array("probabilities", values)
    check_columns("probabilities", array)
    check_floats("probabilities", array, (None, None))
    strange = ~((array >= 0).all(axis=1) & (np.abs(array.sum(axis=1, dtype=np.float64) - 1) < ROUNDED))
    finite = np.isfinite(array).all(axis=1)
    if (strange & finite).any():
        bad = int(np.argmax(strange & finite))
        raise RowError(
            f"`probabilities` must be non-negative and sum to 1 in each row, got others in "
            f"{np.count_nonzero(strange & finite)} of {len(array)} rows, first in row",
            bad,
            ". Pass scores as logits=.",
        )
    logs = np.log(np.maximum(array.astype(np.float64), LEAST))
    logs[~finite] = np.nan
    return logs.astype(array.dtype)


def warn_of_probabilities(logits: Array, /) -> None:
    """Tell who gave probabilities for logits."""
    if logits.size and are_probabilities(logits):
        warnings.warn(
            "`logits` look like probabilities: every row is non-negative and sums to 1. Pass them as probabilities=.",
            UserWarning,
            stacklevel=5,
        )

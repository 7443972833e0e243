"""Probabilities where logits are expected: their logs, and how to recognize them."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import as_array
from abstain._errors import RowError
from abstain._kernels.blocks import row_blocks
from abstain.outputs.rows import Source
from abstain.outputs.validation import check_class_columns, check_floats

Array = NDArray[Any]
FEW = 16  # rows to look at first
ROUNDED = 5e-3  # how far rows of rounded probabilities may be from a sum of one
LEAST = 1e-300  # stands for a probability of zero
_ARE_KNOWN = ContextVar("logits are known to be logits", default=False)


def are_probabilities(array: Array, /) -> bool:
    """Whether every row is non-negative and sums to one; all are read only if the first few do."""

    def these(rows: Array) -> bool:
        return bool((rows >= 0).all() and (np.abs(rows.sum(axis=1, dtype=np.float64) - 1) < ROUNDED).all())

    return _hold(these, array)


def are_log_probabilities(array: Source, /) -> bool:
    """Whether the exponentials of every finite row sum to one."""

    def these(rows: Array) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            apart = np.abs(np.exp(rows.astype(np.float64)).sum(axis=1) - 1)
        return not (apart >= ROUNDED).any()  # NaN comes from a non-finite row

    return _hold(these, array)


def _hold(rule: Callable[[Array], bool], array: Source) -> bool:
    """Whether all rows keep a rule, the first few of which are tried alone."""
    return rule(array[:FEW]) and all(rule(array[block]) for block in row_blocks(*array.shape))


def log_probabilities(values: Any, /) -> Array:
    """The logs of probabilities (n, K); zero counts as 1e-300."""
    array = as_array("probabilities", values)
    check_class_columns("probabilities", array)
    check_floats("probabilities", array, (None, None))
    finite = np.isfinite(array).all(axis=1)
    strange = finite & ~((array >= 0).all(axis=1) & (np.abs(array.sum(axis=1, dtype=np.float64) - 1) < ROUNDED))
    if strange.any():
        bad = int(np.argmax(strange))
        low, total = float(array[bad].min()), float(array[bad].sum(dtype=np.float64))
        raise RowError(
            f"`probabilities` must be non-negative and sum to 1, got a minimum of {low:.4g} and a sum of "
            f"{total:.6g} in row",
            bad,
            f" ({np.count_nonzero(strange)} of {len(array)} rows). Pass scores as logits=.",
        )
    logs = np.log(np.maximum(array.astype(np.float64), LEAST))
    logs[~finite] = np.nan
    return logs.astype(array.dtype)


@contextmanager
def known_logits() -> Iterator[None]:
    """Inside the context, no warning that logits look like probabilities: a few rows may sum to 1 by chance."""
    token = _ARE_KNOWN.set(True)
    try:
        yield
    finally:
        _ARE_KNOWN.reset(token)


def warn_of_probabilities(logits: Array, /) -> None:
    """Warn if logits look like probabilities."""
    if not _ARE_KNOWN.get() and logits.size and are_probabilities(logits):
        warnings.warn(
            "`logits` look like probabilities: every row is non-negative and sums to 1. Pass them as probabilities=.",
            UserWarning,
            stacklevel=5,
        )

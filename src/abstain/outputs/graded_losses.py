"""Graded losses: a number between 0 and 1 for each answer, where more is known than right or wrong."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import as_array, as_doubles
from abstain._errors import InvalidInputError, RowError


def check_losses(losses: Any, needed: NDArray[np.bool_], /, *, others: list[str]) -> NDArray[np.float64]:
    """(n,) losses between 0 and 1, NaN where one is missing in a row where it is not needed.

    Elsewhere a missing loss is an error: the row can be accepted, and nothing is known of it. ``others`` are the other
    arguments that say which answers are wrong.
    """
    n = len(needed)
    if others:
        raise InvalidInputError(f"`losses` must be left out where there are {' and '.join(others)}, got both.")
    array = as_array("losses", losses)
    if array.shape != (n,) or array.dtype.kind not in "biuf":
        raise InvalidInputError(f"`losses` must be {n} numbers from 0 to 1, got {array.dtype} of shape {array.shape}.")
    values = as_doubles("losses", array)
    finite = np.isfinite(values)
    if (missing := needed & ~finite).any():
        raise RowError(
            f"`losses` must be finite, got {values[missing][0]} in {np.count_nonzero(missing)} of {n} rows, first in "
            "row",
            int(np.argmax(missing)),
            ". Grade these rows; to drop them is right only if it does not depend on the answers.",
        )
    if (outside := finite & ((values < 0) | (values > 1))).any():
        bad = int(np.argmax(outside))
        raise RowError(
            f"`losses` must be from 0 to 1, got {values[bad]:g} in row",
            bad,
            ". Divide losses by the largest that is possible; a grade g in [0, 1] is the loss 1 − g.",
        )
    return np.where(finite, values, np.nan)


def not_right_or_wrong(name: str = "outputs", /) -> InvalidInputError:
    """The error where right and wrong answers are needed and only graded losses are known."""
    return InvalidInputError(
        f"`{name}` must say which answers are right or wrong, got graded losses. Choose a limit; then give "
        "a column error, 1 where the loss is above it, instead of loss (in Python: errors=(losses > limit) to Outputs)."
    )

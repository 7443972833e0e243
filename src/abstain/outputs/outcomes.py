"""Outcomes as they are given: errors, or losses from 0 to 1 where more is known than right or wrong."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import as_array, as_doubles
from abstain._errors import InvalidInputError, RowError
from abstain.outputs.validation import Unlabelled


def given_errors(array: NDArray[Any], n: int, /, *, with_labels: bool, unlabelled: Unlabelled) -> NDArray[Any]:
    """(n,) whether each answer was wrong; as numbers, with NaN, where rows without an error are kept."""
    if with_labels:
        raise InvalidInputError("`errors` must be left out where there are labels, got both.")
    rule = f"`errors` must be {n} numbers, 1 where the answer is wrong and 0 elsewhere"
    if array.shape != (n,) or array.dtype.kind not in "biuf":
        raise InvalidInputError(f"{rule}, got {array.dtype} of shape {array.shape}.")
    missing = np.isnan(array) if unlabelled == "keep" else np.zeros(n, dtype=bool)
    if (strange := (array != 0) & (array != 1) & ~missing).any():
        bad = int(np.argmax(strange))
        raise RowError(f"{rule}, got {array[bad]} in row", bad)
    return np.asarray(array, dtype=np.float64 if missing.any() else bool)


def given_losses(losses: Any, needed: NDArray[np.bool_], /, *, others: list[str]) -> NDArray[np.float64]:
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


def check_outcomes(outcomes: NDArray[Any], usable: NDArray[np.bool_], /, *, where: str = "") -> None:
    """Refuse outcomes that are missing in rows that can be accepted."""
    if outcomes.dtype != bool and (missing := usable & np.isnan(outcomes)).any():
        raise RowError(
            f"`outputs` must have the outcome of every row{where}, got none in {np.count_nonzero(missing)} of "
            f"{np.count_nonzero(usable)} rows, first in row",
            int(np.argmax(missing)),
            ". Label these rows." if where else ". Only `calibrate` with `label_above` takes rows without one.",
        )

"""Checks of the arrays of `Outputs`, made once when it is constructed."""

import warnings
from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import BOOLEANS, as_array, as_doubles, as_names, as_rectangle, check_list
from abstain._errors import InvalidInputError, InvalidTypeError, RowError
from abstain._kernels.blocks import for_each_block, row_blocks
from abstain._names import did_you_mean
from abstain.outputs.rows import Source

Array = NDArray[Any]
Shift = Literal["none", "covariate", "label"]
Nonfinite = Literal["error", "reject"]
Unlabelled = Literal["error", "keep"]
SHIFTS: tuple[str, ...] = get_args(Shift)


def check_floats(name: str, array: Array, shape: tuple[int | None, ...], /) -> None:
    """Require a floating type of at most 64 bits and this shape (None: any length above zero)."""
    if array.dtype not in (np.float16, np.float32, np.float64):
        raise InvalidTypeError(
            f"`{name}` must be float16, float32 or float64, got {array.dtype}. Convert it with .astype('float32')."
        )
    fits = array.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, array.shape, strict=True))
    if not fits:
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise InvalidInputError(f"`{name}` must have shape ({wanted}), got {array.shape}.")
    if 0 in array.shape:
        raise InvalidInputError(f"`{name}` must not be empty, got shape {array.shape}.")


def check_class_columns(name: str, array: Array, /) -> None:
    """Refuse one number per row, as of a binary classifier, where there must be a column for each class."""
    if array.ndim == 1:
        two = "np.c_[-z / 2, z / 2]" if name == "logits" else "np.c_[1 - p, p]"
        raise InvalidInputError(
            f"`{name}` must have shape (n, K), a column for each class, got {array.shape}. "
            f"For two classes pass {two}, or probabilities=predict_proba(X)."
        )


def usable_rows(array: Array, /) -> NDArray[np.bool_]:
    """(n,) whether each row is finite."""
    usable = np.empty(len(array), dtype=bool)

    def fill(block: slice) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            usable[block] = np.isfinite(array[block].sum(axis=1))  # a finite sum has finite terms
        strange = block.start + np.flatnonzero(~usable[block])
        usable[strange] = np.isfinite(array[strange]).all(axis=1)

    for_each_block(fill, *array.shape)
    return usable


def usable_logits(array: Array, /) -> tuple[NDArray[np.bool_], bool]:
    """(n,) whether each row has finite logits, −inf (a masked class) allowed besides, and whether there is a −inf."""
    usable, masked = usable_rows(array), False
    strange = np.flatnonzero(~usable)
    for block in row_blocks(len(strange), array.shape[1]):
        rows = array[strange[block]]
        finite, below = np.isfinite(rows), np.isneginf(rows)
        fit = finite.any(axis=1) & (finite | below).all(axis=1)
        usable[strange[block]] = fit
        masked = masked or bool(below[fit].any())
    return usable, masked


def is_masked(logits: Source, usable: Source, /) -> bool:
    """Whether there is a −inf among the logits of usable rows."""
    blocks = row_blocks(*logits.shape)
    return any(bool((np.isneginf(logits[block]).any(axis=1) & usable[block]).any()) for block in blocks)


def check_finite(name: str, array: Array, usable: NDArray[np.bool_], /) -> None:
    """Refuse non-finite rows, naming the first."""
    if usable.all():
        return
    bad = int(np.argmin(usable))
    row = array[bad]
    value = row[np.argmin(np.isfinite(row) | (row == -np.inf))] if name == "logits" else row[~np.isfinite(row)][0]
    advice = "Fix or drop these rows, or pass nonfinite='reject' to count them as rejected errors."
    raise RowError(
        f"`{name}` must be finite, got {value} in {np.count_nonzero(~usable)} of {len(usable)} rows, first in row",
        bad,
        f". {advice if name in ('logits', 'features') else 'Check how the head was stored.'}",
    )


def as_class_numbers(array: Array, n: int, n_classes: int, /) -> NDArray[np.int64]:
    """Require integers below the number of classes, one per row; negative means an unknown class."""
    if array.dtype.kind not in "iu":
        raise InvalidTypeError(
            f"`labels` must be integers, got {array.dtype}. Convert class numbers with .astype(int); "
            "use a negative number for a class the classifier does not know."
        )
    if array.shape != (n,):
        raise InvalidInputError(f"`labels` must have shape ({n},), one per row of logits, got {array.shape}.")
    if (array >= n_classes).any():
        bad = int(np.argmax(array >= n_classes))
        raise RowError(
            f"`labels` must be below the number of classes ({n_classes}), got {array[bad]} in row",
            bad,
            ". Use a negative label for an unknown class, or pass class_names=model.classes_ if labels are names.",
        )
    return np.asarray(array, dtype=np.int64)


FEW_LABELS = 20  # of which −1 and 1 alone may be chance


def warn_of_signs(labels: NDArray[np.int64], /) -> None:
    """Warn where two classes seem to be called −1 and 1, as is usual for scikit-learn."""
    if len(labels) >= FEW_LABELS and np.array_equal(np.unique(labels), [-1, 1]):
        warnings.warn(
            "`labels` are −1 and 1, of which −1 stands for a class that the classifier does not know. If it is the "
            "first of two classes, pass class_names=[-1, 1], or model.classes_.",
            stacklevel=2,
        )


def per_row(name: str, value: Any, n: int, kinds: str, /) -> Array:
    """One entry per row; a single string stands for all rows."""
    if isinstance(value, str):
        value = np.full(n, value)
    array = as_names(name, value, kinds)
    if array.shape != (n,):
        raise InvalidInputError(f"`{name}` must have shape ({n},), one per row of logits, got {array.shape}.")
    return array


def group_names(value: Any, n: int, /) -> Array:
    """The domain of each row; truth values are "True" and "False", however they are written, as in tables.

    >>> group_names(np.array([True, False]), 2), group_names(["true", "x"], 2)
    (array(['True', 'False'], dtype='<U5'), array(['True', 'x'], dtype='<U4'))
    """
    truths = as_rectangle("domain", value)
    array = per_row("domain", truths.astype(str) if truths.dtype.kind == "b" else value, n, "U")
    for other, name in BOOLEANS.items():
        if (array == other).any():
            array = np.where(array == other, name, array)
    return array


def check_shift(shift: Any, labels: NDArray[np.int64] | None, n: int, /) -> Array:
    """The kind of shift of each row; it must be 'label' exactly where the label is negative."""
    unknown = np.zeros(n, dtype=bool) if labels is None else labels < 0
    if shift is None:
        return np.where(unknown, "label", "none").astype("<U9")
    array = per_row("shift", shift, n, "U")
    strange = ~np.isin(array, SHIFTS)
    if strange.any():
        bad = int(np.argmax(strange))
        hint = did_you_mean(array[bad], SHIFTS, otherwise="Names of your own go into `domain`.")
        raise RowError(f"`shift` must be one of {', '.join(SHIFTS)}, got {str(array[bad])!r} in row", bad, f". {hint}")
    clash = (array == "label") != unknown
    if labels is not None and clash.any():
        bad = int(np.argmax(clash))
        raise RowError(
            "`shift` must be 'label' exactly where the label is negative, "
            f"got shift {str(array[bad])!r} with label {labels[bad]} in row",
            bad,
        )
    return array.astype("<U9", copy=False)


def listed_names(names: Any, /) -> list[Any]:
    """The names of classes as a list, from an array, a tensor or any iterable."""
    check_list("class_names", names, "names")
    return list(names.tolist() if hasattr(names, "detach") else names)


def check_class_names(names: list[Any], n_classes: int, /) -> tuple[str, ...]:
    """One distinct name per class."""
    strings = tuple(str(name) for name in names)
    if len(strings) != n_classes:
        raise InvalidInputError(f"`class_names` must name the {n_classes} classes, got {len(strings)} names.")
    if len(set(strings)) != n_classes:
        twice = next(name for name in strings if strings.count(name) > 1)
        raise InvalidInputError(f"`class_names` must be distinct, got {twice!r} twice.")
    return strings


def check_confidences(confidences: Any, /) -> NDArray[np.float64] | None:
    """Confidences by name as columns, or None."""
    if confidences is None:
        return None
    if (
        not isinstance(confidences, Mapping)
        or not confidences
        or not all(isinstance(name, str) and name for name in confidences)
    ):
        raise InvalidTypeError(
            f"`confidences` must be confidences by name, such as {{'vendor': c}}, got {confidences!r:.60}."
        )
    columns = []
    for name, values in confidences.items():
        array = as_array(f"confidences[{name!r}]", values)
        if array.dtype.kind not in "biuf" or array.ndim != 1 or not array.size:
            raise InvalidInputError(
                f"`confidences[{name!r}]` must be numbers of shape (n,), got {array.dtype} of shape {array.shape}."
            )
        columns.append(as_doubles(f"confidences[{name!r}]", array))
    if len({len(column) for column in columns}) != 1:
        raise InvalidInputError(
            f"`confidences` must have confidences of one length, got {[len(column) for column in columns]}."
        )
    matrix = np.stack(columns, axis=1)
    matrix[np.isnan(matrix)] = np.nan  # the same bits, so that rows are known by their hashes
    return matrix


def check_confidence_rows(
    confidences: NDArray[np.float64], names: tuple[str, ...], n: int, nonfinite: Nonfinite, *, with_logits: bool
) -> NDArray[np.bool_]:
    """(n,) whether each row has its confidences; one without is an error unless ``nonfinite`` is reject.

    Of several confidences without logits, one is enough: `learned` takes missing values.
    """
    if len(confidences) != n:
        raise InvalidInputError(f"`confidences` must have {n} rows as the logits have, got {len(confidences)}.")
    absent = np.isnan(confidences)
    usable = ~(absent.any(axis=1) if with_logits else absent.all(axis=1))
    if nonfinite == "error" and not usable.all():
        row = int(np.argmin(usable))
        name = names[int(np.argmax(np.isnan(confidences[row])))]
        raise RowError(
            f"`confidences[{name!r}]` must not be NaN, got {np.count_nonzero(~usable)} of {n} rows, first row",
            row,
            ". Fix or drop these rows, or pass nonfinite='reject' to count them as rejected errors.",
        )
    return np.asarray(usable)


def unlabelled(name: str, purpose: str = "", /) -> InvalidInputError:
    """The error about an argument or a file, by this ``name``, without labels: where to put them.

    >>> print(unlabelled("outputs", "to be counted"))  # doctest: +ELLIPSIS
    `outputs` must have labels to be counted, got none. A table has them in a column `label`, or else in...
    """
    return InvalidInputError(
        f"`{name}` must have labels{' ' * bool(purpose)}{purpose}, got none. A table has them in a column `label`, or "
        "else in `correct`, `error` or `loss`, a folder in labels.npy; in Python pass labels=, errors= or losses= to "
        "Outputs."
    )

"""Checks of arguments that many functions share: first the type, then the value."""

import re
from math import isfinite
from numbers import Real
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, InvalidTypeError

BOOLEANS = {"true": "True", "false": "False"}
"""How Polars and JSON write what pandas, NumPy and Python write as True and False."""
DECIMAL_COMMA = "a decimal comma. Write a point, such as 0.5 for 0,5; Excel and pandas have a setting for it."
WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*")
EXACT = 2**53  # up to here float64 holds every integer


def check_number(name: str, value: Any, /) -> None:
    """Refuse what is no real number."""
    if not isinstance(value, Real):
        raise InvalidTypeError(f"`{name}` must be a number, got {value!r:.60}.")


def check_at_least(name: str, value: float, least: float, /) -> None:
    """Refuse a smaller number."""
    check_number(name, value)
    if not value >= least:
        raise InvalidInputError(f"`{name}` must be at least {least}, got {value}.")


def check_fraction(name: str, value: float, /) -> None:
    """Refuse what is not strictly between 0 and 1."""
    check_number(name, value)
    if not 0 < value < 1:
        raise InvalidInputError(f"`{name}` must be between 0 and 1, got {value}.")


def check_share(name: str, value: float, /) -> None:
    """Refuse what is not above 0 and at most 1."""
    check_number(name, value)
    if not 0 < value <= 1:
        raise InvalidInputError(f"`{name}` must be above 0 and at most 1, got {value}.")


def as_path(name: str, value: str | PathLike[str], /) -> Path:
    """A path, from a string or a path."""
    if not isinstance(value, str | PathLike) or not isinstance(fspath(value), str):
        raise InvalidTypeError(f"`{name}` must be a path or a string, got {value!r:.60}.")
    return Path(value)


def from_torch(value: Any, /) -> Any:
    """A PyTorch tensor, on any device or in a graph, as one that NumPy can read; any other value as it is."""
    if not hasattr(value, "detach"):
        return value
    tensor, lacking = value.detach().cpu(), ("bfloat16", "float8")
    return tensor.float() if any(kind in str(tensor.dtype) for kind in lacking) else tensor


def as_rectangle(name: str, value: Any, /) -> NDArray[Any]:
    """An array of anything that NumPy converts without loss; bfloat16 becomes float32.

    Rows of different lengths, a sparse matrix and masked values are errors.
    """
    value = from_torch(value)
    if hasattr(value, "tocsr") or "sparse" in str(getattr(value, "layout", "")):
        dense = ".to_dense()" if hasattr(value, "to_dense") else ".toarray()"
        raise InvalidTypeError(f"`{name}` must be a dense array, got a sparse one. Convert it with {dense}.")
    if hasattr(value, "filled") and hasattr(value, "mask") and np.any(value.mask):
        raise InvalidInputError(
            f"`{name}` must have a value everywhere, got {np.count_nonzero(value.mask)} masked values. "
            "Drop these rows, or fill them with .filled(…)."
        )
    try:
        array = np.asarray(value)
    except ValueError:
        raise InvalidInputError(f"`{name}` must have rows of one length, got several lengths.") from None
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def as_array(name: str, value: Any, /) -> NDArray[Any]:
    """View ``value`` as a read-only NumPy array; nothing is copied that need not be."""
    array = as_rectangle(name, value)
    if array.dtype.kind in "OT":
        if not all(isinstance(item, str) for item in array.flat):
            raise InvalidTypeError(f"`{name}` must hold numbers or strings, got Python objects.")
        array = array.astype(str)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    array = array.view()
    array.flags.writeable = False
    return array


def as_numbers(name: str, value: Any, /) -> NDArray[Any]:
    """Real numbers or booleans of any type."""
    array = as_rectangle(name, value)
    if array.dtype.kind not in "biuf":
        raise InvalidTypeError(f"`{name}` must be numbers, got {array.dtype}.")
    return array


def as_doubles(name: str, value: Any, /) -> NDArray[np.float64]:
    """Numbers in float64; an error where two different numbers would become equal.

    >>> as_doubles("c", [2**53 + 1])
    Traceback (most recent call last):
    abstain._errors.InvalidInputError: `c` must be exact in float64, got 9007199254740993 in row 0. Pass ranks, or round
    them first.
    """
    array = as_rectangle(name, value)
    if array.dtype.kind == "c":
        raise InvalidTypeError(f"`{name}` must be real numbers, got {array.dtype}.")
    if array.dtype.kind not in "biufO":  # strings, which may be digits, and dates, which are counts of days or seconds
        raise InvalidTypeError(f"`{name}` must be numbers, got {array.dtype}.")
    try:
        doubles = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidTypeError(f"`{name}` must be numbers, got Python objects.") from None
    if array.dtype.itemsize < 8 or array.dtype.kind not in "iuf" or array.dtype == np.float64:
        return doubles
    if array.dtype.kind == "f":  # wider than float64
        bad = (doubles != array) & ~np.isnan(array)
    else:
        bad = (array > EXACT) | ((array < -EXACT) if array.dtype.kind == "i" else False)
    if bad.any():
        row = int(np.argmax(bad))
        got = f"{array.flat[row]!s} in row {row}"
        raise InvalidInputError(f"`{name}` must be exact in float64, got {got}. Pass ranks, or round them first.")
    return doubles


def written_number(text: Any, /) -> float:
    """The number in a cell of a table; ``1_0`` and digits of other scripts, which Python would read, are errors.

    >>> written_number(" 2.5e-3 ")
    0.0025
    >>> written_number("1_0")
    Traceback (most recent call last):
    abstain._errors.InvalidInputError: `number` must be written in digits, got '1_0'.
    """
    if isinstance(text, str) and WITH_COMMA.fullmatch(text):
        raise InvalidInputError(f"`number` must be written with a point, got {text!r:.60}, {DECIMAL_COMMA}")
    try:
        number = float(text)
    except OverflowError:
        raise InvalidInputError(f"`number` must be within float64, got {str(text)[:20]}….") from None
    if isinstance(text, str) and ("_" in text or not text.isascii()):
        raise InvalidInputError(f"`number` must be written in digits, got {text!r:.60}.")
    if abs(number) >= EXACT and isfinite(number) and _is_rounded(text, number):
        raise InvalidInputError(f"`number` must be exact in float64, got {text!r:.60}.")
    return number


def _is_rounded(text: Any, number: float) -> bool:
    """Whether the text is an integer that differs from the number."""
    try:
        return int(text) != int(number)
    except (ValueError, TypeError):
        return False


def check_list(name: str, value: Any, what: str, /) -> None:
    """Refuse what is not iterable, and a string."""
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        kind = "the string " if isinstance(value, str) else ""
        raise InvalidTypeError(f"`{name}` must be a list of {what}, got {kind}{value!r:.60}.")


def check_one_kind(name: str, values: Any, /) -> None:
    """Refuse a list of both strings and numbers, in which NumPy would make 1 and "1" the same."""
    if not isinstance(values, list | tuple) and getattr(getattr(values, "dtype", None), "kind", "") != "O":
        return
    kinds = {isinstance(value, str) for value in values if value is not None and type(value) is not float}
    if len(kinds) == 2:
        raise InvalidTypeError(
            f"`{name}` must be all strings or all numbers, got both, where 1 and '1' would be the same. Make all of "
            "them strings."
        )


def as_names(name: str, values: Any, kinds: str = "Uiu", /) -> NDArray[Any]:
    """Names such as ids: strings or integers (``kinds`` of NumPy), none of them missing.

    >>> as_names("ids", [1.0, float("nan")])
    Traceback (most recent call last):
    abstain._errors.InvalidTypeError: `ids` must be strings or integers, got float64.
    """
    check_one_kind(name, values)
    array = as_array(name, values)
    if array.dtype.kind not in kinds:
        raise InvalidTypeError(
            f"`{name}` must be {'strings' if kinds == 'U' else 'strings or integers'}, got {array.dtype}."
        )
    return array

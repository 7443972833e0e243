"""Checks of arguments that many functions share: the kind of a thing before its value."""

from math import isfinite
from numbers import Real
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

EXACT = 2**53  # up to here float64 holds every integer


def check_number(name: str, value: Any, /) -> None:
    """A real number: no text, no list, no array."""
    if not isinstance(value, Real):
        raise TypeError(f"`{name}` must be a number, got {value!r:.60}.")


def as_path(name: str, value: str | PathLike[str], /) -> Path:
    """The path that a text or a path names."""
    if not isinstance(value, str | PathLike) or not isinstance(fspath(value), str):
        raise TypeError(f"`{name}` must be a path or a text, got {value!r:.60}.")
    return Path(value)


def as_rectangle(name: str, value: Any, /) -> NDArray[Any]:
    """An array of whatever NumPy can make one of without loss; bfloat16 becomes float32.

    Rows of different lengths, a sparse matrix and masked values are errors.
    """
    if hasattr(value, "detach"):  # a torch tensor, perhaps on a device or in a graph
        value = value.detach().cpu()
        value = value.float() if "bfloat16" in str(value.dtype) else value
    if hasattr(value, "tocsr") or "sparse" in str(getattr(value, "layout", "")):
        dense = ".to_dense()" if hasattr(value, "to_dense") else ".toarray()"
        raise TypeError(f"`{name}` must be a dense array, got a sparse one. Convert it with {dense}.")
    if hasattr(value, "filled") and hasattr(value, "mask") and np.any(value.mask):
        raise ValueError(
            f"`{name}` must have a value everywhere, got {np.count_nonzero(value.mask)} masked ones. "
            "Drop these rows, or fill them with .filled(…)."
        )
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"`{name}` must have rows of one length, got several.") from None
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def as_array(name: str, value: Any, /) -> NDArray[Any]:
    """View ``value`` as a read-only NumPy array; nothing is copied that need not be."""
    array = as_rectangle(name, value)
    if array.dtype.kind in "OT":
        if not all(isinstance(item, str) for item in array.flat):
            raise TypeError(f"`{name}` must hold numbers or strings, got Python objects.")
        array = array.astype(str)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    array = array.view()
    array.flags.writeable = False
    return array


def as_doubles(name: str, value: Any, /) -> NDArray[np.float64]:
    """Numbers in float64, where different ones must stay different.

    >>> as_doubles("confidence", [2**53 + 1])
    Traceback (most recent call last):
    ValueError: `confidence` must be exact in float64, got 9007199254740993 in row 0. Pass ranks, or round them first.
    """
    array = as_rectangle(name, value)
    if array.dtype.kind == "c":
        raise TypeError(f"`{name}` must be real numbers, got {array.dtype}.")
    found = np.asarray(array, dtype=np.float64)
    if array.dtype.itemsize < 8 or array.dtype.kind not in "iuf" or array.dtype == np.float64:
        return found
    if array.dtype.kind == "f":  # wider than float64
        bad = (found != array) & ~np.isnan(array)
    else:
        bad = (array > EXACT) | ((array < -EXACT) if array.dtype.kind == "i" else False)
    if bad.any():
        row = int(np.argmax(bad))
        got = f"{array.flat[row]!s} in row {row}"
        raise ValueError(f"`{name}` must be exact in float64, got {got}. Pass ranks, or round them first.")
    return found


def written_number(text: Any, /) -> float:
    """The number in a cell as tables have them: Python alone reads ``1_0`` as 10, or digits of other scripts.

    >>> written_number(" 2.5e-3 ")
    0.0025
    >>> written_number("1_0")
    Traceback (most recent call last):
    ValueError: `number` must be written in digits, got '1_0'.
    """
    number = float(text)
    if isinstance(text, str) and ("_" in text or not text.isascii()):
        raise ValueError(f"`number` must be written in digits, got {text!r:.60}.")
    if abs(number) >= EXACT and isfinite(number) and _is_rounded(text, number):
        raise ValueError(f"`number` must be exact in float64, got {text!r:.60}.")
    return number


def _is_rounded(text: Any, number: float) -> bool:
    """Whether it is an integer, written as such, and another than the number."""
    try:
        return int(text) != int(number)
    except (ValueError, TypeError):
        return False


def check_list(name: str, value: Any, what: str, /) -> None:
    """Something that can be gone through, and is no text."""
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        kind = "the string " if isinstance(value, str) else ""
        raise TypeError(f"`{name}` must be a list of {what}, got {kind}{value!r:.60}.")


def check_one_kind(name: str, values: Any, /) -> None:
    """Names that are all text or all numbers: in a list of both, NumPy would make 1 and "1" the same."""
    if not isinstance(values, list | tuple) and getattr(getattr(values, "dtype", None), "kind", "") != "O":
        return
    kinds = {isinstance(value, str) for value in values if value is not None and type(value) is not float}
    if len(kinds) == 2:
        raise TypeError(
            f"`{name}` must be all strings or all numbers, got both, of which 1 and '1' would be one. Make all of them "
            "strings."
        )


def as_names(name: str, values: Any, kinds: str = "Uiu", /) -> NDArray[Any]:
    """Names such as ids: strings or integers (``kinds`` of NumPy), none of them missing.

    >>> as_names("ids", [1.0, float("nan")])
    Traceback (most recent call last):
    TypeError: `ids` must be strings or integers, got float64.
    """
    check_one_kind(name, values)
    array = as_array(name, values)
    if array.dtype.kind not in kinds:
        raise TypeError(f"`{name}` must be {'strings' if kinds == 'U' else 'strings or integers'}, got {array.dtype}.")
    return array

"""Checks of arguments that many functions share: the kind of a thing before its value."""

from numbers import Real
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
    """An array of whatever NumPy can make one of; rows of different lengths are an error."""
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"`{name}` must have rows of one length, got several.") from None


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

"""Whether parts of outputs can be joined."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_parts(parts: list[Any], names: tuple[str, ...], row_names: tuple[str, ...], /) -> None:
    """All parts must have the same arrays, and the same head and names."""
    if not parts:
        raise ValueError("`parts` must hold at least one Outputs, got none.")
    if any(type(part) is not type(parts[0]) or not hasattr(part, "given_names") for part in parts):
        raise TypeError("`parts` must hold Outputs, got others.")
    for number, part in enumerate(parts[1:], start=1):
        for name in names:
            one, other = getattr(parts[0], name), getattr(part, name)
            if (one is None) != (other is None):
                raise ValueError(f"`{name}` must be given in all parts or in none, got a difference in part {number}.")
            if name in ("ids", "logits", "features") and one is not None:
                _check_alike(name, one, other, number)
            if name not in row_names and one is not None and not np.array_equal(one, other):
                raise ValueError(f"`{name}` must be the same in all parts, got another in part {number}.")


def _check_alike(name: str, one: NDArray[Any], other: NDArray[Any], number: int) -> None:
    if one.shape[1:] != other.shape[1:]:
        raise ValueError(
            f"`{name}` must have {one.shape[1]} columns in all parts, got {other.shape[1]} in part {number}."
        )
    if name == "ids" and (one.dtype.kind == "U") != (other.dtype.kind == "U"):
        raise TypeError(f"`ids` must be strings in all parts or numbers in all, got a difference in part {number}.")
    if name == "ids" and np.result_type(one, other).kind not in "Uiu":
        raise TypeError(f"`ids` must have one integer type in all parts, got {other.dtype} in part {number}.")

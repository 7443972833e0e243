"""What JSON cannot hold, as words."""

from math import inf
from typing import Any


def jsonable(value: Any, /) -> Any:
    """The value with ±inf as the words "inf" and "-inf", tuples as lists and NumPy numbers as plain ones."""
    if isinstance(value, dict):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    return {inf: "inf", -inf: "-inf"}.get(value, value) if isinstance(value, float) else value

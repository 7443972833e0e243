"""The state of a monitor as text, so that it goes on where it stopped."""

import json
from dataclasses import asdict, fields, is_dataclass
from math import inf
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from abstain.jsonable import jsonable

T = TypeVar("T")


def to_json(monitor: Any, /) -> str:
    """All fields of a monitor and of its parts; ±inf, which JSON cannot hold, are the words "-inf" and "inf"."""
    return json.dumps(jsonable(asdict(monitor)), allow_nan=False)


def is_shared(parts: NDArray[np.float64], shape: tuple[int, ...], /) -> bool:
    """Whether these are shares of a capital, each row of it 1 in all."""
    return parts.shape == shape and bool((parts >= 0).all()) and bool(np.allclose(parts.sum(axis=-1), 1, atol=1e-6))


def part_from_json(text: str, kind: type[T], /) -> T:
    """The monitor of this kind that `to_json` wrote."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"`text` must be the state of {_a(kind)}, got {error}.") from None
    return _built(found, kind)


def _built(found: Any, kind: Any) -> Any:
    """A value of a type, from what JSON makes of it; anything else is a ValueError."""
    if isinstance(kind, UnionType):
        return None if found is None else _built(found, next(part for part in get_args(kind) if part is not type(None)))
    if get_origin(kind) is tuple and isinstance(found, list):
        return tuple(_built(item, get_args(kind)[0]) for item in found)
    if is_dataclass(kind):
        types = get_type_hints(kind)
        if not isinstance(found, dict) or set(found) != {field.name for field in fields(kind)}:
            got = ", ".join(found) if isinstance(found, dict) and found else "another value"
            raise ValueError(f"`text` must be the state of {_a(kind)}, got {got}.")
        return kind(**{name: _built(value, types[name]) for name, value in found.items()})  # type: ignore[operator]
    if kind is float and found in ("inf", "-inf"):
        return inf if found == "inf" else -inf
    if kind is float and type(found) is float:
        return found
    if kind is float and type(found) is int and abs(found) <= 2**53:
        return float(found)
    if kind is int and type(found) is int:
        return found
    raise ValueError(f"`text` must be the state of a monitor, got {found!r} for a number.")


def _a(kind: Any) -> str:
    return f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}"

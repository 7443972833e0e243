"""Dataclasses as JSON and back: every field is there, of its type, and nothing else is."""

import json
from dataclasses import asdict, fields, is_dataclass
from math import inf
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from abstain.jsonable import jsonable

T = TypeVar("T")


def to_json(record: Any, /) -> str:
    """All fields of a dataclass and of its parts; ±inf, which JSON cannot hold, are the words "-inf" and "inf"."""
    return json.dumps(jsonable(asdict(record)), allow_nan=False)


def from_json(text: str, kind: type[T], /) -> T:
    """The record of this kind that `to_json` wrote."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"`text` must be the state of {_a(kind)}, got {error}.") from None
    return built(found, kind)


def built(found: Any, kind: Any, /) -> Any:
    """A value of a type, from what JSON makes of it; anything else is a ValueError."""
    if isinstance(kind, UnionType):
        if found is None and NoneType in get_args(kind):
            return None
        return built(found, next(part for part in get_args(kind) if part is not NoneType))
    if get_origin(kind) is Literal:
        if found in get_args(kind) and type(found) is str:
            return found
        raise ValueError(
            f"`text` must be the state of a record, with one of {', '.join(get_args(kind))}, got {found!r}."
        )
    if get_origin(kind) is tuple and isinstance(found, list):
        return tuple(built(item, get_args(kind)[0]) for item in found)
    if get_origin(kind) is dict and isinstance(found, dict):
        return {str(name): built(item, get_args(kind)[1]) for name, item in found.items()}
    if is_dataclass(kind):
        types = get_type_hints(kind)
        if not isinstance(found, dict) or set(found) != {field.name for field in fields(kind)}:
            got = ", ".join(found) if isinstance(found, dict) and found else "another value"
            raise ValueError(f"`text` must be the state of {_a(kind)}, got {got}.")
        return kind(**{name: built(value, types[name]) for name, value in found.items()})  # type: ignore[operator]
    if kind is float and found in ("inf", "-inf"):
        return inf if found == "inf" else -inf
    if kind is float and type(found) is float and found == found and abs(found) != inf:
        return found
    if kind is float and type(found) is int and abs(found) <= 2**53:
        return float(found)
    if kind in (int, bool, str) and type(found) is kind:
        return found
    word = {float: "a number", int: "a whole number", bool: "true or false", str: "a text"}.get(kind, "something else")
    raise ValueError(f"`text` must be the state of a record, with {word} where it has {str(found)[:60]!r}.")


def _a(kind: Any) -> str:
    return f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}"

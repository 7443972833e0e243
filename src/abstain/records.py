"""Dataclasses as JSON and back: every field is there, of its type, and nothing else is."""

import json
from dataclasses import asdict, fields, is_dataclass
from math import inf
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from abstain.jsonable import jsonable

T = TypeVar("T")


def to_json(record: Any, /) -> str:
    """All fields of a dataclass and of its parts; ±inf, which JSON cannot hold, are the words "-inf" and "inf"."""
    return json.dumps(jsonable(asdict(record)), allow_nan=False)


def parsed(text: str, /) -> Any:
    """What a JSON text holds; a ValueError where it is none, or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("brackets nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"no JSON: {error}") from None


def from_json(text: str, kind: type[T], /, *, place: str = "text") -> T:
    """The record of this kind that `to_json` wrote; an error names the ``place`` where the text is from."""
    try:
        return cast(T, built(parsed(text), kind))
    except (ValueError, RecursionError) as error:
        reason = str(error).removeprefix(f"`text` must be the state of {_a(kind)}, got ").rstrip(".")
        raise ValueError(f"`{place}` must be the state of {_a(kind)}, got {reason}.") from None


def built(found: Any, kind: Any, /, *, place: str = "it") -> Any:
    """A value of a type, from what JSON makes of it; anything else is a ValueError that says where in the record."""
    if isinstance(kind, UnionType):
        if found is None and NoneType in get_args(kind):
            return None
        return built(found, next(part for part in get_args(kind) if part is not NoneType), place=place)
    if get_origin(kind) is Literal:
        if type(found) is str and found in get_args(kind):
            return found
        raise _misfit(place, f"one of {', '.join(get_args(kind))}", found)
    if get_origin(kind) is tuple and isinstance(found, list):
        return tuple(built(item, get_args(kind)[0], place=f"{place}[{number}]") for number, item in enumerate(found))
    if get_origin(kind) is dict and isinstance(found, dict):
        return {name: built(item, get_args(kind)[1], place=f"{place}.{name}") for name, item in found.items()}
    if is_dataclass(kind):
        types = get_type_hints(kind)
        if not isinstance(found, dict) or set(found) != {field.name for field in fields(kind)}:
            raise _misfit(place, f"the fields {', '.join(field.name for field in fields(kind))}", found)
        parts = {name: built(value, types[name], place=f"{place}.{name}") for name, value in found.items()}
        return kind(**parts)  # type: ignore[operator]
    if kind is float and found in ("inf", "-inf"):
        return inf if found == "inf" else -inf
    if kind is float and type(found) is float and found == found and abs(found) != inf:
        return found
    if kind is float and type(found) is int and abs(found) <= 2**53:
        return float(found)
    if kind in (int, bool, str) and type(found) is kind:
        return found
    words = {float: "a number", int: "a whole number", bool: "true or false", str: "a text"}
    raise _misfit(place, words.get(kind, "a list" if get_origin(kind) is tuple else "an object"), found)


def _misfit(place: str, rule: str, found: Any) -> ValueError:
    got = ", ".join(found) if isinstance(found, dict) else str(found)
    return ValueError(f"{got[:60]!r} where {place.removeprefix('it.')} must be {rule}")


def _a(kind: Any) -> str:
    return f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}"

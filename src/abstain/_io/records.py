"""Dataclasses as JSON and back: every field is there, of its type, and nothing else is."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from enum import StrEnum
from math import inf, isfinite
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from abstain._errors import InvalidInputError, reason_of

T = TypeVar("T")


def jsonable(value: Any, /) -> Any:
    """The value with ±inf as the strings "inf" and "-inf", tuples as lists and NumPy numbers as Python's."""
    if isinstance(value, dict):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    return {inf: "inf", -inf: "-inf"}.get(value, value) if isinstance(value, float) else value


def as_columns(records: Sequence[Mapping[str, Any]], /) -> dict[str, list[Any]]:
    """A column for every key, with None in records that lack it."""
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def to_json(record: Any, /) -> str:
    """All fields of a dataclass and of its parts; ±inf, which JSON cannot hold, are the strings "-inf" and "inf"."""
    return json.dumps(jsonable(asdict(record)), allow_nan=False)


def parsed(text: str, /) -> Any:
    """What a JSON document holds; an error where it is none, or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise InvalidInputError("brackets nested too deeply") from None
    except ValueError:
        raise InvalidInputError("text that is not JSON") from None


def from_json(text: str, kind: type[T], /, *, where: str = "text") -> T:
    """The record of this kind that `to_json` wrote; ``where`` is the file or argument that an error names."""
    try:
        return cast(T, built(parsed(text), kind))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"`{where}` must be the state of {_a(kind)}, got {state_reason(error)}.") from None


def state_reason(error: Exception, /) -> str:
    """`reason_of` an error of a part of a state, without naming the state again."""
    return re.sub(r" where `text` must be the state of an? \w+", "", reason_of(error))


def built(value: Any, kind: Any, /, *, where: str = "it") -> Any:
    """A value of type ``kind`` from parsed JSON; an error names the field, ``where``, that does not fit."""
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(kind, UnionType):
        if value is None and NoneType in arguments:
            return None
        if int in arguments and float in arguments:  # a count, or a total of parts
            return built(value, int if type(value) is int else float, where=where)
        return built(value, next(part for part in arguments if part is not NoneType), where=where)
    if origin is Literal:
        if type(value) is str and value in arguments:
            return value
        raise _misfit(where, f"one of {', '.join(arguments)}", value)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        if type(value) is str and value in set(kind):
            return kind(value)
        raise _misfit(where, f"one of {', '.join(kind)}", value)
    if origin is tuple and isinstance(value, list):
        return tuple(built(item, arguments[0], where=f"{where}[{index}]") for index, item in enumerate(value))
    if origin is dict and isinstance(value, dict):
        return {name: built(item, arguments[1], where=f"{where}.{name}") for name, item in value.items()}
    if is_dataclass(kind):
        return _record(value, kind, where)
    return _scalar(value, kind, where)


def _record(value: Any, kind: Any, where: str) -> Any:
    types, names = get_type_hints(kind), [field.name for field in fields(kind)]
    if not isinstance(value, dict) or set(value) != set(names):
        raise _misfit(where, f"the fields {', '.join(names)}", value)
    return kind(**{name: built(item, types[name], where=f"{where}.{name}") for name, item in value.items()})


def _scalar(value: Any, kind: Any, where: str) -> Any:
    if kind is float and value in ("inf", "-inf"):
        return float(value)
    if kind is float and type(value) is float and isfinite(value):
        return value
    if kind is float and type(value) is int and abs(value) <= 2**53:
        return float(value)
    if kind in (int, bool, str) and type(value) is kind:
        return value
    rules = {float: "a number", int: "an integer", bool: "true or false", str: "a string"}
    raise _misfit(where, rules.get(kind, "a list" if get_origin(kind) is tuple else "an object"), value)


def _misfit(where: str, rule: str, value: Any) -> InvalidInputError:
    got = ", ".join(value) if isinstance(value, dict) else str(value)
    if where == "it":
        return InvalidInputError(f"{got[:60]!r} instead of {rule}")
    verb = "have" if rule.startswith("the fields") else "be"
    return InvalidInputError(f"{got[:60]!r} where {where.removeprefix('it.')} must {verb} {rule}")


def _a(kind: Any) -> str:
    return f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}"

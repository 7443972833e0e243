"""Scores as arrays and a small header, and back: nothing executable, every name and type checked."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from abstain.records import built
from abstain.scores.given import Own
from abstain.scores.inputs import Head, Inputs
from abstain.scores.score import FittedScore, Stored

Arrays = dict[str, NDArray[Any]]


def to_state(stored: Stored, /, *, name: str = "score") -> tuple[dict[str, Any], Arrays]:
    """A header that JSON can hold and the arrays it names, each with ``name`` in front."""
    arrays: Arrays = {}
    return _pack(stored, name, arrays), arrays


def from_state(header: Any, arrays: Arrays, /, *, kind: type[Any] = FittedScore, own: Iterable[Any] = ()) -> Any:
    """What `to_state` took apart; anything else is a ValueError. Functions of the user's are found among ``own``."""
    functions = {Own.of(one).column: Own.of(one) for one in own}
    try:
        return _unpack(header, kind, arrays, functions)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"`header` must be that of a score, got {type(error).__name__}: {error}.") from None


def check_sizes(fitted: FittedScore, n_classes: int, /) -> None:
    """A ValueError where the arrays do not fit each other or the number of classes: seen on a row of zeros."""
    sizes = fitted.expects()
    if sizes.get("classes", n_classes) != n_classes:
        raise ValueError(f"`header` must be that of a score of {n_classes} classes, got {sizes['classes']}.")
    if not n_classes or isinstance(fitted, Own):
        return
    d = sizes.get("features", 1)
    head = Head(1 + np.eye(n_classes, d)) if fitted.uses_head else None
    with np.errstate(all="ignore"):
        found = fitted.formula(Inputs(np.zeros((1, n_classes)), np.zeros((1, d)), head))
    if np.shape(found) != (1,):
        raise ValueError(f"`arrays` must fit the score, got a confidence of shape {np.shape(found)}.")


def _pack(value: Any, path: str, arrays: Arrays) -> Any:
    if isinstance(value, Own):
        return {"own": value.column}
    if isinstance(value, Stored):
        names = [field.name for field in fields(value)]  # type: ignore[arg-type]
        packed = {name: _pack(getattr(value, name), f"{path}.{name}", arrays) for name in names}
        return {"kind": value.stored_name(), "fields": packed}
    if isinstance(value, np.ndarray):
        arrays[path] = value
        return {"array": path}
    if isinstance(value, tuple):
        return [_pack(item, f"{path}.{number}", arrays) for number, item in enumerate(value)]
    return value


def _unpack(value: Any, kind: Any, arrays: Arrays, own: dict[str, Own]) -> Any:
    if isinstance(value, dict):
        if set(value) == {"array"}:
            if kind is not Any and get_origin(kind) is not np.ndarray:
                raise ValueError("`header` must be that of a score, got an array where it has none.")
            return _checked(arrays[value["array"]])
        if set(value) == {"own"}:
            return _own(str(value["own"]), own)
        return _record(value, kind, arrays, own)
    if isinstance(value, list) and get_origin(kind) is tuple:
        return tuple(_unpack(item, get_args(kind)[0], arrays, own) for item in value)
    if kind is Any and (value is None or type(value) in (int, float)):
        return value
    try:
        return built(value, kind)
    except ValueError as error:
        raise ValueError(f"`header` must be that of a score, got {error}") from None


def _record(value: dict[str, Any], kind: Any, arrays: Arrays, own: dict[str, Own]) -> Any:
    if value["kind"] not in Stored.kinds:
        raise ValueError(
            f"`header` must be that of a score that is known, got {value['kind']!r}. If it is a class of yours, import "
            "it first."
        )
    found = Stored.kinds[value["kind"]]
    if not issubclass(found, kind):
        raise ValueError(f"`header` must be that of a score, with {kind.__name__}, got {value['kind']!r}.")
    types = get_type_hints(found)
    names = {field.name for field in fields(found)}  # type: ignore[arg-type]
    if set(value["fields"]) != names:
        raise ValueError(
            f"`header` must be that of a score, with the fields of {value['kind']}, got {', '.join(value['fields'])}."
        )
    return found(**{name: _unpack(part, types[name], arrays, own) for name, part in value["fields"].items()})


def _own(name: str, known: dict[str, Own]) -> Own:
    if name not in known:
        raise ValueError(
            f"`scores` must hold the function {name!r} that the selector was calibrated with, which no file can hold. "
            f"Pass scores=[{name}]."
        )
    return known[name]


def _checked(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype not in (np.float32, np.float64) or not np.isfinite(array).all():
        raise ValueError(f"`arrays` must hold finite float32 or float64 numbers, got {array.dtype}.")
    return array

"""Scores as arrays and a small header, and back: nothing executable, every name and type checked."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, get_args, get_origin, get_type_hints
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray

from abstain.draws import generator
from abstain.foreign import foreign
from abstain.outputs import Outputs
from abstain.records import built
from abstain.scores.given import Own
from abstain.scores.score import FittedScore, Stored

Arrays = dict[str, NDArray[Any]]
MOST_CLASSES = 10_000_000
LARGEST = 1e50  # so that products of several are finite


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


def check_decides(fitted: FittedScore, n_classes: int, /) -> None:
    """A fitted score must give each row a number: arrays and numbers that do not fit together are found out here."""
    with foreign("`arrays` must fit together"):
        sizes = {"classes": n_classes, "features": 2} | fitted.expects()
    if sizes["classes"] != n_classes or n_classes == 1 or not 0 <= n_classes <= MOST_CLASSES:
        raise ValueError(f"`header` must be of a score for {n_classes} classes, got {sizes['classes']}.")
    if not fitted.is_formula or ":" in fitted.stored_name():  # a class of the user's may expect anything
        return
    rng = generator("rows to try a score on", 0)
    for n in (5, 7):
        shapes = ((n, n_classes), (n, sizes["features"]), (n_classes, sizes["features"]))
        logits, features, weight = (rng.normal(size=shape) for shape in shapes)
        with foreign("`arrays` must fit together"), np.errstate(all="raise", under="ignore"), catch_warnings():
            simplefilter("error")  # a mean of nothing is a warning only
            confidence = fitted(Outputs(logits=logits, features=features, weight=weight))
        if np.shape(confidence) != (n,):
            raise ValueError(f"`arrays` must give each row a number, got shape {np.shape(confidence)}.")


def _pack(value: Any, path: str, arrays: Arrays) -> Any:
    if isinstance(value, Stored):
        if not value.is_stored:
            return {"own": value.name}  # type: ignore[attr-defined]
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
            if kind is not Any and not any(_is_array(part) for part in (kind, *get_args(kind))):
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
        found = built(value, kind)
    except ValueError as error:
        raise ValueError(f"`header` must be that of a score, got {error}.") from None
    if isinstance(found, int | float) and abs(found) > LARGEST:
        raise ValueError(f"`header` must have numbers up to {LARGEST:g}, got {found}.")
    return found


def _is_array(kind: Any) -> bool:
    return kind is np.ndarray or get_origin(kind) in (np.ndarray, NDArray)  # from NumPy 2.5 on, the second is an alias


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
    """The function of this name, or one that tells what is missing when it is called."""

    def missing(_: Outputs) -> Any:
        raise ValueError(
            f"`scores` must hold the function {name!r} that the selector was calibrated with, which no file can hold. "
            f"Load it in Python with Selector.load(file, scores=[{name}])."
        )

    return known.get(name, Own(name, missing))


def _checked(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype not in (np.float32, np.float64) or not (np.abs(array) <= np.float64(LARGEST)).all():
        raise ValueError(f"`arrays` must hold float32 or float64 numbers up to {LARGEST:g}, got others.")
    return array

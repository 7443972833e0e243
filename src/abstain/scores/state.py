"""Scores as arrays and a small header, and back: nothing executable, every name and type checked."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, get_args, get_origin, get_type_hints
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray

from abstain._draws import generator
from abstain._errors import InvalidInputError, foreign, reason_of
from abstain._io.records import built
from abstain.outputs import Outputs
from abstain.scores.given_confidence import Own
from abstain.scores.score import FittedScore, Stored

Arrays = dict[str, NDArray[Any]]
MOST_CLASSES = 10_000_000
LARGEST = 1e50  # so that products of several are finite


def to_state(stored: Stored, /, *, name: str = "score") -> tuple[dict[str, Any], Arrays]:
    """A fitted score as a JSON header and the arrays it names, with nothing executable.

    Parameters
    ----------
    stored : Stored
        A score or fitted score.
    name : str
        What the names of the arrays begin with.

    Returns
    -------
    tuple of dict and dict of str to array
        Header and arrays.
    """
    arrays: Arrays = {}
    return _pack(stored, name, arrays), arrays


def from_state(header: Any, arrays: Arrays, /, *, kind: type[Any] = FittedScore, own: Iterable[Any] = ()) -> Any:
    """The score that `to_state` took apart.

    Parameters
    ----------
    header : dict
        As `to_state` made it.
    arrays : dict of str to array
        As `to_state` made them.
    kind : type
        What it must be.
    own : iterable of functions
        Where functions of the user are looked up by name.

    Returns
    -------
    FittedScore
        With the same bits.

    Raises
    ------
    InvalidInputError
        If the header or arrays are not those of a score.
    """
    functions = {Own.of(function).column: Own.of(function) for function in own}
    try:
        return _unpack(header, kind, arrays, functions)
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInputError(f"`header` must be that of a score, got {reason_of(error)}.") from None


def check_decides(fitted: FittedScore, n_classes: int, /) -> None:
    """A fitted score must give each row a number; an error where its arrays and numbers do not fit together."""
    with foreign("`arrays` must fit together"):
        sizes = {"classes": n_classes, "features": 2} | fitted.expects()
    if sizes["classes"] != n_classes or n_classes == 1 or not 0 <= n_classes <= MOST_CLASSES:
        raise InvalidInputError(f"`header` must be of a score for {n_classes} classes, got {sizes['classes']}.")
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
            raise InvalidInputError(f"`arrays` must give each row a number, got shape {np.shape(confidence)}.")


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
                raise InvalidInputError("`header` must be that of a score, got an array where it has none.")
            return _checked(arrays[value["array"]])
        if set(value) == {"own"}:
            return _own(str(value["own"]), own)
        return _record(value, kind, arrays, own)
    if isinstance(value, list) and get_origin(kind) is tuple:
        return tuple(_unpack(item, get_args(kind)[0], arrays, own) for item in value)
    if kind is Any and (value is None or type(value) in (int, float)):
        return value
    try:
        plain = built(value, kind)
    except ValueError as error:
        raise InvalidInputError(f"`header` must be that of a score, got {reason_of(error)}.") from None
    if isinstance(plain, int | float) and abs(plain) > LARGEST:
        raise InvalidInputError(f"`header` must have numbers up to {LARGEST:g}, got {plain}.")
    return plain


def _is_array(kind: Any) -> bool:
    return kind is np.ndarray or get_origin(kind) in (np.ndarray, NDArray)  # from NumPy 2.5 on, the second is an alias


def _record(value: dict[str, Any], kind: Any, arrays: Arrays, own: dict[str, Own]) -> Any:
    if value["kind"] not in Stored.kinds:
        raise InvalidInputError(
            f"`header` must be that of a score that is known, got {value['kind']!r}. If it is a class of yours, import "
            "it first."
        )
    stored = Stored.kinds[value["kind"]]
    if not issubclass(stored, kind):
        raise InvalidInputError(f"`header` must be that of a score, with {kind.__name__}, got {value['kind']!r}.")
    types = get_type_hints(stored)
    names = {field.name for field in fields(stored)}  # type: ignore[arg-type]
    if set(value["fields"]) != names:
        raise InvalidInputError(
            f"`header` must be that of a score, with the fields of {value['kind']}, got "
            f"{', '.join(value['fields']) or 'none'}."
        )
    return stored(**{name: _unpack(part, types[name], arrays, own) for name, part in value["fields"].items()})


def _own(name: str, known: dict[str, Own]) -> Own:
    """The function of this name, or one that raises an error naming what is missing when it is called."""

    def missing(_: Outputs) -> Any:
        raise InvalidInputError(
            f"`scores` must hold the function {name!r} that the selector was calibrated with, which no file can hold. "
            f"Load it in Python with Selector.load(file, scores=[{name}])."
        )

    return known.get(name, Own(name, missing))


def _checked(array: NDArray[Any]) -> NDArray[Any]:
    is_float = array.dtype in (np.float32, np.float64)
    if not is_float or not (np.abs(array) <= np.float64(LARGEST)).all():
        wrong = array[~(np.abs(array) <= np.float64(LARGEST))][0] if is_float else array.dtype
        raise InvalidInputError(f"`arrays` must hold float32 or float64 numbers up to {LARGEST:g}, got {wrong}.")
    return array

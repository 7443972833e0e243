"""A selector in one file: arrays and a header, nothing executable, every bit and every field checked."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from os import PathLike
from typing import Any

import numpy as np

from abstain._arguments import as_path
from abstain._errors import InvalidInputError, reason_of
from abstain._io.files import reading, write_whole
from abstain._io.records import built, jsonable
from abstain._io.sealed import Arrays, sealed_bytes, unsealed
from abstain.scores.score import FittedScore, Score
from abstain.scores.state import check_decides, from_state, to_state
from abstain.selector.calibration_data import CalibrationData
from abstain.selector.calibration_rows import SeenRows
from abstain.selector.class_sets import ClassSets
from abstain.selector.group_thresholds import GroupThresholds
from abstain.thresholds.score_distribution import ScoreDistribution
from abstain.thresholds.threshold import Threshold

FORMAT, VERSION = "abstain.selector", 11
KEYS = {
    *("score", "fitted", "threshold", "groups", "n_classes", "distribution", "class_names", "calibration", "seen"),
    "class_sets",
}


def save(selector: Any, file: str | PathLike[str], /) -> None:
    """Write one file, whole or not at all."""
    goal, contents = as_path("file", file), dumped(selector)
    write_whole(goal, lambda partial: partial.write_bytes(contents))


def dumped(selector: Any, /) -> bytes:
    """What the file holds."""
    score, fitted, arrays = _states(selector.entry, selector.fitted)
    header = {
        "score": score,
        "fitted": fitted,
        "threshold": asdict(selector.threshold),
        "groups": None if selector.groups is None else asdict(selector.groups),
        "n_classes": selector.n_classes,
        "distribution": asdict(selector.distribution),
        "class_names": selector.class_names,
        "calibration": None if selector.calibration is None else asdict(selector.calibration),
        "seen": None if selector.seen is None else asdict(selector.seen),
        "class_sets": None if selector.class_sets is None else asdict(selector.class_sets),
    }
    try:
        _fields(json.loads(json.dumps(jsonable(header), allow_nan=False)), arrays, ())
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInputError(f"`selector` must have a score that a file can hold, got {reason_of(error)}.") from None
    return sealed_bytes(FORMAT, VERSION, header, arrays)


def load(file: str | PathLike[str], /, *, own: Iterable[Any] = ()) -> dict[str, Any]:
    """The fields of the selector in a file; a truncated, altered, newer or foreign file is refused with the reason."""
    path = as_path("file", file)
    with reading(path, "a selector written by Selector.save"):
        contents = path.read_bytes()
    return read(contents, str(file), own=own)


def read(contents: bytes, file: str, /, *, own: Iterable[Any] = ()) -> dict[str, Any]:
    """The same of the contents of a file of this name."""
    header, arrays = unsealed(contents, file, FORMAT, VERSION, writer="Selector.save", again="calibrate again")
    try:
        return _fields(header, arrays, own)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInputError(f"`{file}` must be a selector, got {reason_of(error)}.") from None


def _fields(header: dict[str, Any], arrays: Arrays, own: Iterable[Any]) -> dict[str, Any]:
    own = [own] if callable(own) else list(own)
    entry = from_state(header["score"], arrays, kind=Score, own=own)
    fitted = from_state(header["fitted"], arrays, kind=FittedScore, own=own)
    _check_all_is_read(entry, fitted, header, arrays)
    n_classes = built(header["n_classes"], int, where="n_classes")
    class_names = built(header["class_names"], tuple[str, ...] | None, where="class_names")
    if class_names is not None and len(class_names) != n_classes:
        raise InvalidInputError(f"{len(class_names)} names for {n_classes} classes")
    check_decides(fitted, n_classes)
    return {
        "entry": entry,
        "fitted": fitted,
        "threshold": built(header["threshold"], Threshold, where="threshold"),
        "groups": built(header["groups"], GroupThresholds | None, where="groups"),
        "n_classes": n_classes,
        "distribution": built(header["distribution"], ScoreDistribution, where="distribution"),
        "class_names": class_names,
        "calibration": built(header["calibration"], CalibrationData | None, where="calibration"),
        "seen": built(header["seen"], SeenRows | None, where="seen"),
        "class_sets": built(header["class_sets"], ClassSets | None, where="class_sets"),
    }


def _states(entry: Score, fitted: FittedScore) -> tuple[Any, Any, Arrays]:
    """Both as headers, and their arrays as they are in a file, which cannot hold none."""
    score, arrays = to_state(entry, name="score")
    state, more = to_state(fitted, name="fitted")
    stored = {name: np.ascontiguousarray(array) for name, array in (arrays | more).items()}
    return score, state, stored or {"none": np.zeros(0)}


def _check_all_is_read(entry: Score, fitted: FittedScore, header: dict[str, Any], arrays: Arrays) -> None:
    """A file says what is saved again and nothing else."""
    score, state, stored = _states(entry, fitted)
    if set(header) != KEYS or json.loads(json.dumps([score, state])) != [header["score"], header["fitted"]]:
        raise InvalidInputError("a header with more or other fields")
    forms = [{name: (array.dtype, array.shape) for name, array in kept.items()} for kept in (stored, arrays)]
    if forms[0] != forms[1]:
        raise InvalidInputError("more or other arrays than its score has")

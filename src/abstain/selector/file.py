"""A selector in one file: arrays and a header, nothing executable, every bit and every field checked."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from os import PathLike
from typing import Any, final

import numpy as np

from abstain._arguments import as_path
from abstain._errors import InvalidInputError
from abstain._io.files import reading, write_whole
from abstain._io.records import built
from abstain._io.sealed import Arrays, as_read, making, sealed_bytes, unsealed
from abstain.scores.score import FittedScore, Score
from abstain.scores.state import check_decides, from_state, to_state
from abstain.selector.calibration_data import CalibrationData
from abstain.selector.calibration_rows import SeenRows
from abstain.selector.class_sets import ClassSets
from abstain.selector.group_thresholds import GroupThresholds
from abstain.thresholds.score_distribution import ScoreDistribution
from abstain.thresholds.threshold import Threshold

FORMAT, VERSION = "abstain.selector", 12
SCORE = ("score", "fitted")


@final
@dataclass(frozen=True)
class _Record:
    """Of a selector, besides its score."""

    threshold: Threshold
    groups: GroupThresholds | None
    n_classes: int
    distribution: ScoreDistribution
    class_names: tuple[str, ...] | None
    calibration: CalibrationData | None
    seen: SeenRows | None
    class_sets: ClassSets | None


def save(selector: Any, file: str | PathLike[str], /) -> None:
    """Write one file, whole or not at all."""
    goal, contents = as_path("file", file), dumped(selector)
    write_whole(goal, lambda partial: partial.write_bytes(contents))


def dumped(selector: Any, /) -> bytes:
    """What the file holds."""
    score, fitted, arrays = _states(selector.entry, selector.fitted)
    record = _Record(*(getattr(selector, field.name) for field in fields(_Record)))
    header = {"score": score, "fitted": fitted, **asdict(record)}
    with making("`selector` must have a score that a file can hold"):
        _fields(as_read(header), arrays, ())
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
    with making(f"`{file}` must be a selector"):
        return _fields(header, arrays, own)


def _fields(header: dict[str, Any], arrays: Arrays, own: Iterable[Any]) -> dict[str, Any]:
    own = [own] if callable(own) else list(own)
    entry = from_state(header["score"], arrays, kind=Score, own=own)
    fitted = from_state(header["fitted"], arrays, kind=FittedScore, own=own)
    _check_all_is_read(entry, fitted, header, arrays)
    record = built({name: header[name] for name in header if name not in SCORE}, _Record)
    if record.class_names is not None and len(record.class_names) != record.n_classes:
        raise InvalidInputError(f"{len(record.class_names)} names for {record.n_classes} classes")
    check_decides(fitted, record.n_classes)
    return {"entry": entry, "fitted": fitted, **vars(record)}


def _states(entry: Score, fitted: FittedScore) -> tuple[Any, Any, Arrays]:
    """Both as headers, and their arrays as they are in a file, which cannot hold none."""
    score, arrays = to_state(entry, name="score")
    state, more = to_state(fitted, name="fitted")
    stored = {name: np.ascontiguousarray(array) for name, array in (arrays | more).items()}
    return score, state, stored or {"none": np.zeros(0)}


def _check_all_is_read(entry: Score, fitted: FittedScore, header: dict[str, Any], arrays: Arrays) -> None:
    """A file says what is saved again and nothing else."""
    score, state, stored = _states(entry, fitted)
    names = {*SCORE, *(field.name for field in fields(_Record))}
    if set(header) != names or as_read({"score": score, "fitted": state}) != {name: header[name] for name in SCORE}:
        raise InvalidInputError("a header with more or other fields")
    forms = [{name: (array.dtype, array.shape) for name, array in kept.items()} for kept in (stored, arrays)]
    if forms[0] != forms[1]:
        raise InvalidInputError("more or other arrays than its score has")

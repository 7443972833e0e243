"""A selector in one file: arrays and a header, nothing executable, every bit and every field checked."""

import hashlib
import json
import struct
from collections.abc import Iterable
from dataclasses import asdict
from os import PathLike
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as dump_arrays

from abstain.arguments import as_path
from abstain.files import reading, write_whole
from abstain.jsonable import jsonable
from abstain.records import built
from abstain.scores.score import FittedScore, Score
from abstain.scores.state import Arrays, check_decides, from_state, to_state
from abstain.selector.group_thresholds import GroupThresholds
from abstain.thresholds.score_distribution import ScoreDistribution
from abstain.thresholds.threshold import Threshold

FORMAT, VERSION = "abstain.selector", 4
BLANK = "0" * 64
LARGEST_HEADER = 10_000_000
KEYS = {
    "sha256",
    "format",
    "version",
    "score",
    "fitted",
    "threshold",
    "groups",
    "n_classes",
    "distribution",
    "class_names",
}


def save(selector: Any, file: str | PathLike[str], /) -> None:
    """Write one file, whole or not at all."""
    goal, contents = as_path("file", file), dumped(selector)
    write_whole(goal, lambda partial: partial.write_bytes(contents))


def dumped(selector: Any, /) -> bytes:
    """What a file holds."""
    score, fitted, arrays = _states(selector.entry, selector.fitted)
    header = {
        "sha256": BLANK,  # first, so that no name can look like the blank
        "format": FORMAT,
        "version": VERSION,
        "score": score,
        "fitted": fitted,
        "threshold": asdict(selector.threshold),
        "groups": None if selector.groups is None else asdict(selector.groups),
        "n_classes": selector.n_classes,
        "distribution": asdict(selector.distribution),
        "class_names": selector.class_names,
    }
    try:
        _fields(json.loads(json.dumps(jsonable(header), allow_nan=False)), arrays, ())
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"`selector` must have a score that a file can hold, got {reason}.") from None
    contents = dump_arrays(arrays, metadata={"abstain": json.dumps(jsonable(header), allow_nan=False)})
    digest = hashlib.sha256(contents).hexdigest()
    return contents.replace(BLANK.encode(), digest.encode(), 1)


def load(file: str | PathLike[str], /, *, own: Iterable[Any] = ()) -> dict[str, Any]:
    """The fields of the selector in a file; a truncated, altered, newer or foreign one is an error that says so."""
    place = as_path("file", file)
    with reading(place, "a selector written by Selector.save"):
        contents = place.read_bytes()
    return read(contents, str(file), own=own)


def read(contents: bytes, file: str, /, *, own: Iterable[Any] = ()) -> dict[str, Any]:
    """The fields of the selector that a file of this name holds."""
    header = _header(contents, file)
    if header.get("format") != FORMAT:
        raise ValueError(f"`{file}` must be a selector, got another kind of file.")
    if header.get("version") != VERSION:
        raise ValueError(
            f"`{file}` must be of version {VERSION}, got {header.get('version')}. Use the abstain that wrote it, "
            "or calibrate again."
        )
    digest = str(header.get("sha256"))
    if len(digest) != 64 or contents.count(digest.encode()) != 1:
        raise ValueError(f"`{file}` must be whole and unaltered, got no valid digest.")
    blank = contents.replace(digest.encode(), BLANK.encode(), 1)
    if hashlib.sha256(blank).hexdigest() != digest:
        raise ValueError(f"`{file}` must be whole and unaltered, got other contents than were saved.")
    try:
        return _fields(header, load_arrays(contents), own)
    except (SafetensorError, KeyError, TypeError, ValueError, AttributeError) as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"`{file}` must be a selector, got {type(error).__name__}: {reason}.") from None


def _fields(header: dict[str, Any], arrays: Arrays, own: Iterable[Any]) -> dict[str, Any]:
    own = [own] if callable(own) else list(own)
    entry = from_state(header["score"], arrays, kind=Score, own=own)
    fitted = from_state(header["fitted"], arrays, kind=FittedScore, own=own)
    _check_all_is_read(entry, fitted, header, arrays)
    n_classes = built(header["n_classes"], int, place="n_classes")
    check_decides(fitted, n_classes)
    return {
        "entry": entry,
        "fitted": fitted,
        "threshold": built(header["threshold"], Threshold, place="threshold"),
        "groups": built(header["groups"], GroupThresholds | None, place="groups"),
        "n_classes": n_classes,
        "distribution": built(header["distribution"], ScoreDistribution, place="distribution"),
        "class_names": built(header["class_names"], tuple[str, ...] | None, place="class_names"),
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
        raise ValueError("a header with more or other fields")
    forms = [{name: (array.dtype, array.shape) for name, array in kept.items()} for kept in (stored, arrays)]
    if forms[0] != forms[1]:
        raise ValueError("more or other arrays than its score has")


def _header(contents: bytes, file: str) -> dict[str, Any]:
    """The metadata of a safetensors file, read without trusting a length in it."""
    try:
        (length,) = struct.unpack_from("<Q", contents)
        if length > min(len(contents) - 8, LARGEST_HEADER):
            raise ValueError("a header longer than the file")
        header = json.loads(json.loads(contents[8 : 8 + length])["__metadata__"]["abstain"])
    except (struct.error, ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(
            f"`{file}` must be a selector written by Selector.save, got other or cut-off contents."
        ) from None
    if not isinstance(header, dict):
        raise ValueError(f"`{file}` must be a selector written by Selector.save, got another header.")
    return header

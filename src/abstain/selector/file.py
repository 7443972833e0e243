"""A selector in one file: arrays and a header, nothing executable, every bit and every field checked."""

import hashlib
import json
import struct
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
from abstain.scores.fitting import Fitted
from abstain.scores.score import Score
from abstain.scores.state import Arrays, check_decides, from_state, to_state
from abstain.thresholds.score_distribution import ScoreDistribution
from abstain.thresholds.threshold import Threshold

FORMAT, VERSION = "abstain.selector", 3
BLANK = "0" * 64
LARGEST_HEADER = 10_000_000
KEYS = ("sha256", "format", "version", "score", "threshold", "groups", "n_classes", "law", "class_names")


def save(selector: Any, file: str | PathLike[str], /) -> None:
    """Write one file, whole or not at all."""
    goal = as_path("file", file)
    header, arrays = to_state(selector.fitted)
    header = {"sha256": BLANK, "format": FORMAT} | header  # first, so that no name can look like the blank
    header |= {
        "version": VERSION,
        "score": selector.score,
        "threshold": asdict(selector.threshold),
        "groups": None if selector.groups is None else asdict(selector.groups),
        "n_classes": selector.n_classes,
        "law": asdict(selector.distribution),  # the word of files of this version
        "class_names": selector.class_names,
    }
    contents = dump_arrays(_stored(arrays), metadata={"abstain": json.dumps(jsonable(header), allow_nan=False)})
    digest = hashlib.sha256(contents).hexdigest()
    contents = contents.replace(BLANK.encode(), digest.encode(), 1)
    write_whole(goal, lambda partial: partial.write_bytes(contents))


def load(file: str | PathLike[str], groups: Any, known: dict[str, Score], /) -> dict[str, Any]:
    """The fields of the selector in a file; a truncated, altered, newer or foreign one is an error that says so."""
    place = as_path("file", file)
    with reading(place, "a selector written by Selector.save"):
        contents = place.read_bytes()
    header = _header(contents, str(file))
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
        arrays = load_arrays(contents)
        fitted = from_state({"fitted": header["fitted"]}, arrays)
        _check_all_is_read(fitted, header, arrays)
        score = built(header["score"], str, place="score")
        if score not in known and getattr(fitted, "name", None) != score:
            raise ValueError(f"the score {score!r}, which is not known")
        n_classes = built(header["n_classes"], int, place="n_classes")
        if isinstance(fitted, Fitted):
            check_decides(fitted, n_classes)
        return {
            "score": score,
            "fitted": fitted,
            "threshold": built(header["threshold"], Threshold, place="threshold"),
            "groups": built(header["groups"], groups | None, place="groups"),
            "n_classes": n_classes,
            "distribution": built(header["law"], ScoreDistribution, place="law"),
            "class_names": built(header["class_names"], tuple[str, ...] | None, place="class_names"),
        }
    except (SafetensorError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"`{file}` must be a selector, got {type(error).__name__}: {error}.") from None


def _stored(arrays: Arrays) -> Arrays:
    """The arrays as they are in a file, which cannot hold none."""
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()} or {"none": np.zeros(0)}


def _check_all_is_read(fitted: Any, header: dict[str, Any], arrays: Arrays) -> None:
    """A file says what is saved again and nothing else."""
    again, stored = to_state(fitted)
    if set(header) != {*KEYS, "fitted"} or again["fitted"] != header["fitted"]:
        raise ValueError("a header with more or other fields")
    forms = [{name: (array.dtype, array.shape) for name, array in kept.items()} for kept in (_stored(stored), arrays)]
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

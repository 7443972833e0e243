"""A sketch in one file: counts, compressed, and a header; nothing executable, every bit and every field checked."""

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.records import built
from abstain.scores.score import FittedScore, Score
from abstain.scores.state import check_decides, from_state, to_state
from abstain.sealed import Arrays, load_sealed, save_sealed
from abstain.sketch.bins import Bins
from abstain.sketch.cells import Cells
from abstain.sketch.plan import By, Plan, Scored

FORMAT, VERSION = "abstain.sketch", 1
MOST_CELLS = 1 << 32
KEYS = {"scores", "by", "parts", "has_ids", "n_classes", "class_names", "head", "strata", "rounded", "fitted_bins"}


def save(sketch: Any, file: Path, /) -> None:
    """Write one file, whole or not at all."""
    plan, arrays, scores = sketch.plan, Arrays(), []
    for number, (name, one) in enumerate(plan.scores.items()):
        entry, some = to_state(one.entry, name=f"{number}.score")
        fitted, more = to_state(one.fitted, name=f"{number}.fitted")
        arrays |= some | more | _packed(sketch.cells[name], f"{number}.")
        if one.bins.edges is not None:
            arrays[f"{number}.edges"] = one.bins.edges
        scores.append(
            {
                "name": name,
                "score": entry,
                "fitted": fitted,
                "bits": one.bins.bits,
                "cells": len(sketch.cells[name].place),
            }
        )
    header = {
        "scores": scores,
        "by": plan.by,
        "parts": plan.parts,
        "has_ids": plan.has_ids,
        "n_classes": plan.n_classes,
        "class_names": plan.class_names,
        "head": plan.head,
        "strata": sketch.strata,
        "rounded": sorted(sketch.rounded),
        "fitted_bins": sorted(sketch.fitted_bins),
    }
    save_sealed(file, FORMAT, VERSION, header, arrays)


def load(file: Path, /) -> dict[str, Any]:
    """The fields of the sketch in a file."""
    header, arrays = load_sealed(file, FORMAT, VERSION, writer="Sketch.save", again="sketch again")
    try:
        return _fields(header, arrays)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, zlib.error) as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"`{file}` must be a sketch, got {type(error).__name__}: {reason}.") from None


def _fields(header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    if set(header) != KEYS:
        raise ValueError("a header with more or other fields")
    n_classes = built(header["n_classes"], int, place="n_classes")
    strata = built(header["strata"], tuple[tuple[str, ...], ...], place="strata")
    scores, cells = {}, {}
    for number, one in enumerate(header["scores"]):
        if set(one) != {"name", "score", "fitted", "bits", "cells"}:
            raise ValueError("a score with more or other fields")
        entry = from_state(one["score"], arrays, kind=Score)
        fitted = from_state(one["fitted"], arrays, kind=FittedScore)
        states = [to_state(part, name=f"{number}.{what}")[0] for what, part in (("score", entry), ("fitted", fitted))]
        if json.loads(json.dumps(states)) != [one["score"], one["fitted"]]:
            raise ValueError("a score with more or other fields")
        if n_classes:
            check_decides(fitted, n_classes)
        bits = built(one["bits"], int | None, place="bits")
        name = built(one["name"], str, place="name")
        if name in scores or name != entry.name:
            raise ValueError(f"the score {entry.name} under the name {name}")
        scores[name] = Scored(entry, fitted, Bins(bits, arrays.get(f"{number}.edges")))
        cells[name] = _unpacked(arrays, f"{number}.", built(one["cells"], int, place="cells"))
    plan = Plan(
        scores=scores,
        by=built(header["by"], tuple[By, ...], place="by"),
        parts=built(header["parts"], int, place="parts"),
        has_ids=built(header["has_ids"], bool, place="has_ids"),
        n_classes=n_classes,
        class_names=built(header["class_names"], tuple[str, ...] | None, place="class_names"),
        head=built(header["head"], str | None, place="head"),
    )
    marks = {mark: built(header[mark], tuple[str, ...], place=mark) for mark in ("rounded", "fitted_bins")}
    _check(plan, strata, cells, marks)
    if set(arrays) != {name for number, one in enumerate(scores.values()) for name in _names(one, number)}:
        raise ValueError("more or other arrays than its scores have")
    return {"plan": plan, "strata": strata, "cells": cells} | {mark: frozenset(names) for mark, names in marks.items()}


def _names(one: Scored, number: int) -> set[str]:
    """The arrays of a score."""
    states = to_state(one.entry, name=f"{number}.score")[1] | to_state(one.fitted, name=f"{number}.fitted")[1]
    own = ("place", "counts", "errors", *(() if one.bins.edges is None else ("edges",)))
    return {*states, *(f"{number}.{name}" for name in own)}


def _check(plan: Plan, strata: Any, cells: dict[str, Cells], marks: dict[str, tuple[str, ...]]) -> None:
    """Counts that could be those of rows."""
    if list(strata) != sorted(set(strata)) or any(len(stratum) != len(plan.by) for stratum in strata):
        raise ValueError("populations that are not in order")
    if any(list(names) != sorted(set(names) & set(plan.scores)) for names in marks.values()):
        raise ValueError("scores that are not there, or not in order")
    totals = set()
    for name, one in cells.items():
        bins = plan.scores[name].bins
        most = 1 << bins.bits if bins.bits is not None else len(bins.edges) + 1  # type: ignore[arg-type]
        if (one.place[1:] <= one.place[:-1]).any() or (one.bins >= most).any():
            raise ValueError("bins that are not in order")
        if (one.codes >= len(strata) * plan.parts).any():
            raise ValueError("counts of populations that are not there")
        if (one.counts < 1).any() or (one.errors < 0).any() or (one.errors > one.counts).any():
            raise ValueError("counts that are none")
        codes = one.codes
        sums = [np.bincount(codes, weights=values, minlength=1).tolist() for values in (one.counts, one.errors)]
        totals.add(str(sums))
    if len(totals) > 1:
        raise ValueError("scores with other rows than each other")


def _packed(cells: Cells, prefix: str) -> Arrays:
    """Columns in the smallest whole numbers that hold them, bytes of one kind beside each other, compressed."""
    columns = {"place": np.diff(cells.place, prepend=np.uint64(0)), "counts": cells.counts, "errors": cells.errors}
    found: Arrays = {}
    for name, column in columns.items():
        width = _width(column)
        octets = column.astype(f"<u{width}").view(np.uint8).reshape(len(column), width)
        planes = np.ascontiguousarray(octets.T)
        found[f"{prefix}{name}"] = np.frombuffer(zlib.compress(planes.tobytes(), 6), np.uint8)
    return found


def _unpacked(arrays: Arrays, prefix: str, size: int) -> Cells:
    if not 0 <= size <= MOST_CELLS:
        raise ValueError(f"{size} cells")
    place, counts, errors = (_column(arrays[f"{prefix}{name}"], size) for name in ("place", "counts", "errors"))
    if counts.max(initial=0) >> np.uint64(62) or errors.max(initial=0) >> np.uint64(62):
        raise ValueError("counts beyond any number of rows")
    return Cells(np.cumsum(place, dtype=np.uint64), counts.astype(np.int64), errors.astype(np.int64))


def _column(packed: NDArray[Any], size: int) -> NDArray[np.uint64]:
    """A column of ``size`` whole numbers in the smallest form; no more is unpacked than they can take."""
    if packed.dtype != np.uint8 or packed.ndim != 1:
        raise ValueError("counts in another form")
    unpacker = zlib.decompressobj()
    raw = unpacker.decompress(packed.tobytes(), 8 * size + 1)
    width = len(raw) // size if size else 1
    if not unpacker.eof or unpacker.unused_data or width not in (1, 2, 4, 8) or len(raw) != width * size:
        raise ValueError("counts that are cut off, or more than there are")
    planes = np.frombuffer(raw, np.uint8).reshape(width, size).T
    column = np.ascontiguousarray(planes).view(f"<u{width}").ravel().astype(np.uint64)
    if _width(column) != width:
        raise ValueError("counts in another form")
    return column


def _width(column: NDArray[Any]) -> int:
    """How many bytes the largest of whole numbers takes, as 1, 2, 4 or 8."""
    most = int(column.max(initial=0))
    return next(width for width in (1, 2, 4, 8) if most < 1 << (8 * width))

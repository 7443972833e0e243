"""A sketch in a file: compressed counts and a header; nothing executable, every field checked."""

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain._io.records import built
from abstain._io.sealed import Arrays, load_sealed, making, save_sealed
from abstain.scores.score import FittedScore, Score
from abstain.scores.state import check_decides, from_state, to_state
from abstain.sketch.bins import Bins
from abstain.sketch.cells import Cells
from abstain.sketch.plan import BinnedScore, By, Plan

FORMAT, VERSION = "abstain.sketch", 2
MOST_CELLS = 1 << 32
KEYS = {"scores", "by", "parts", "has_ids", "n_classes", "class_names", "head", "strata", "rounded", "fitted_bins"}


def save(sketch: Any, file: Path, /) -> None:
    """Write one file, whole or not at all."""
    plan, arrays, scores = sketch.plan, Arrays(), []
    for number, (name, score) in enumerate(plan.scores.items()):
        entry, some = to_state(score.entry, name=f"{number}.score")
        fitted, more = to_state(score.fitted, name=f"{number}.fitted")
        arrays |= some | more | _packed(sketch.cells[name], f"{number}.")
        if score.bins.edges is not None:
            arrays[f"{number}.edges"] = score.bins.edges
        scores.append(
            {
                "name": name,
                "score": entry,
                "fitted": fitted,
                "bits": score.bins.bits,
                "cells": len(sketch.cells[name].slots),
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
    with making(f"`{file}` must be a sketch"):
        return _fields(header, arrays)


def _fields(header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    if set(header) != KEYS:
        raise InvalidInputError("a header with other fields")
    n_classes = built(header["n_classes"], int, where="n_classes")
    strata = built(header["strata"], tuple[tuple[str, ...], ...], where="strata")
    scores, cells = {}, {}
    for number, record in enumerate(header["scores"]):
        if set(record) != {"name", "score", "fitted", "bits", "cells"}:
            raise InvalidInputError("a score with other fields")
        entry = from_state(record["score"], arrays, kind=Score)
        fitted = from_state(record["fitted"], arrays, kind=FittedScore)
        states = [to_state(part, name=f"{number}.{what}")[0] for what, part in (("score", entry), ("fitted", fitted))]
        if json.loads(json.dumps(states)) != [record["score"], record["fitted"]]:
            raise InvalidInputError("a score with other fields")
        if n_classes:
            check_decides(fitted, n_classes)
        bits = built(record["bits"], int | None, where="bits")
        name = built(record["name"], str, where="name")
        if name in scores or name != entry.name:
            raise InvalidInputError(f"the score {entry.name} under the name {name}")
        scores[name] = BinnedScore(entry, fitted, Bins(bits, arrays.get(f"{number}.edges")))
        cells[name] = _unpacked(arrays, f"{number}.", built(record["cells"], int, where="cells"))
    plan = Plan(
        scores=scores,
        by=built(header["by"], tuple[By, ...], where="by"),
        parts=built(header["parts"], int, where="parts"),
        has_ids=built(header["has_ids"], bool, where="has_ids"),
        n_classes=n_classes,
        class_names=built(header["class_names"], tuple[str, ...] | None, where="class_names"),
        head=built(header["head"], str | None, where="head"),
    )
    marks = {mark: built(header[mark], tuple[str, ...], where=mark) for mark in ("rounded", "fitted_bins")}
    _check(plan, strata, cells, marks)
    if set(arrays) != {name for number, score in enumerate(scores.values()) for name in _names(score, number)}:
        raise InvalidInputError("other arrays than its scores have")
    return {"plan": plan, "strata": strata, "cells": cells} | {mark: frozenset(names) for mark, names in marks.items()}


def _names(score: BinnedScore, number: int) -> set[str]:
    """The arrays of a score."""
    states = to_state(score.entry, name=f"{number}.score")[1] | to_state(score.fitted, name=f"{number}.fitted")[1]
    own = ("slots", "counts", "errors", *(() if score.bins.edges is None else ("edges",)))
    return {*states, *(f"{number}.{name}" for name in own)}


def _check(plan: Plan, strata: Any, cells: dict[str, Cells], marks: dict[str, tuple[str, ...]]) -> None:
    """Raise an error for counts that no rows give."""
    if list(strata) != sorted(set(strata)) or any(len(stratum) != len(plan.by) for stratum in strata):
        raise InvalidInputError("populations out of order")
    if any(list(names) != sorted(set(names) & set(plan.scores)) for names in marks.values()):
        raise InvalidInputError("scores that are unknown or out of order")
    totals = set()
    for name, counted in cells.items():
        bins = plan.scores[name].bins
        most = 1 << bins.bits if bins.bits is not None else len(bins.edges) + 1  # type: ignore[arg-type]
        if (counted.slots[1:] <= counted.slots[:-1]).any() or (counted.bins >= most).any():
            raise InvalidInputError("bins out of order")
        if (counted.codes >= len(strata) * plan.parts).any():
            raise InvalidInputError("counts of unknown populations")
        if (counted.counts < 1).any() or (counted.errors < 0).any() or (counted.errors > counted.counts).any():
            raise InvalidInputError("counts below 1, or errors above counts")
        codes = counted.codes
        sums = [np.bincount(codes, weights=values, minlength=1).tolist() for values in (counted.counts, counted.errors)]
        totals.add(str(sums))
    if len(totals) > 1:
        raise InvalidInputError("scores that count different rows")


def _packed(cells: Cells, prefix: str) -> Arrays:
    """Columns in the smallest integers that hold them, bytes of equal weight together, compressed."""
    columns = {"slots": np.diff(cells.slots, prepend=np.uint64(0)), "counts": cells.counts, "errors": cells.errors}
    arrays: Arrays = {}
    for name, column in columns.items():
        width = _width(column)
        octets = column.astype(f"<u{width}").view(np.uint8).reshape(len(column), width)
        planes = np.ascontiguousarray(octets.T)
        arrays[f"{prefix}{name}"] = np.frombuffer(zlib.compress(planes.tobytes(), 6), np.uint8)
    return arrays


def _unpacked(arrays: Arrays, prefix: str, size: int) -> Cells:
    if not 0 <= size <= MOST_CELLS:
        raise InvalidInputError(f"{size} cells")
    slots, counts, errors = (_column(arrays[f"{prefix}{name}"], size) for name in ("slots", "counts", "errors"))
    if counts.max(initial=0) >> np.uint64(62) or errors.max(initial=0) >> np.uint64(62):
        raise InvalidInputError("counts above 2^62")
    return Cells(np.cumsum(slots, dtype=np.uint64), counts.astype(np.int64), errors.astype(np.int64))


def _column(packed: NDArray[Any], size: int) -> NDArray[np.uint64]:
    """A column of ``size`` integers in the smallest type; no more is unpacked than they can take."""
    if packed.dtype != np.uint8 or packed.ndim != 1:
        raise InvalidInputError("counts in an unknown format")
    unpacker = zlib.decompressobj()
    raw = unpacker.decompress(packed.tobytes(), 8 * size + 1)
    width = len(raw) // size if size else 1
    if not unpacker.eof or unpacker.unused_data or width not in (1, 2, 4, 8) or len(raw) != width * size:
        raise InvalidInputError("truncated or surplus counts")
    planes = np.frombuffer(raw, np.uint8).reshape(width, size).T
    column = np.ascontiguousarray(planes).view(f"<u{width}").ravel().astype(np.uint64)
    if _width(column) != width:
        raise InvalidInputError("counts in an unknown format")
    return column


def _width(column: NDArray[Any]) -> int:
    """How many bytes the largest integer takes, as 1, 2, 4 or 8."""
    most = int(column.max(initial=0))
    return next(width for width in (1, 2, 4, 8) if most < 1 << (8 * width))

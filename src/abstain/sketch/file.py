"""A sketch in a file: compressed counts and a header; nothing executable, every field checked."""

import zlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain._io.records import built
from abstain._io.sealed import Arrays, as_read, load_sealed, making, save_sealed
from abstain.scores.score import FittedScore, Score
from abstain.scores.state import check_decides, from_state, to_state
from abstain.sketch.bins import Bins
from abstain.sketch.cells import Cells
from abstain.sketch.plan import BinnedScore, By, Plan

FORMAT, VERSION = "abstain.sketch", 2
MOST_CELLS = 1 << 32
COUNTS = ("slots", "counts", "errors")


@dataclass(frozen=True)
class _Record:
    """Of a sketch, besides its scores and counts."""

    by: tuple[By, ...]
    parts: int
    has_ids: bool
    n_classes: int
    class_names: tuple[str, ...] | None
    head: str | None
    strata: tuple[tuple[str, ...], ...]
    rounded: tuple[str, ...]
    fitted_bins: tuple[str, ...]


def save(sketch: Any, file: Path, /) -> None:
    """Write one file, whole or not at all."""
    plan = sketch.plan
    own: dict[str, Any] = {field.name: getattr(plan, field.name) for field in fields(plan) if field.name != "scores"}
    scores, arrays = _scores(plan, {name: len(cells.slots) for name, cells in sketch.cells.items()})
    for number, cells in enumerate(sketch.cells.values()):
        columns = np.diff(cells.slots, prepend=np.uint64(0)), cells.counts, cells.errors
        arrays |= {f"{number}.{name}": _packed(column) for name, column in zip(COUNTS, columns, strict=True)}
    rounded, fitted_bins = tuple(sorted(sketch.rounded)), tuple(sorted(sketch.fitted_bins))
    record = _Record(**own, strata=sketch.strata, rounded=rounded, fitted_bins=fitted_bins)
    save_sealed(file, FORMAT, VERSION, {"scores": scores, **asdict(record)}, arrays)


def _scores(plan: Plan, sizes: dict[str, int]) -> tuple[list[dict[str, Any]], Arrays]:
    """The scores as headers, with so many cells each, and the arrays of the scores and their bins."""
    headers: list[dict[str, Any]] = []
    arrays: Arrays = {}
    for number, (name, score) in enumerate(plan.scores.items()):
        entry, some = to_state(score.entry, name=f"{number}.score")
        fitted, more = to_state(score.fitted, name=f"{number}.fitted")
        edges = {} if score.bins.edges is None else {f"{number}.edges": score.bins.edges}
        arrays |= some | more | edges
        headers.append({"name": name, "score": entry, "fitted": fitted, "bits": score.bins.bits, "cells": sizes[name]})
    return headers, arrays


def load(file: Path, /) -> dict[str, Any]:
    """The fields of the sketch in a file."""
    header, arrays = load_sealed(file, FORMAT, VERSION, writer="Sketch.save", again="sketch again")
    with making(f"`{file}` must be a sketch"):
        return _fields(header, arrays)


def _fields(header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    described = header.pop("scores")
    record = built(header, _Record)
    scores, cells = {}, {}
    for number, each in enumerate(described):
        entry = from_state(each["score"], arrays, kind=Score)
        fitted = from_state(each["fitted"], arrays, kind=FittedScore)
        if record.n_classes:
            check_decides(fitted, record.n_classes)
        bits = built(each["bits"], int | None, where="bits")
        scores[entry.name] = BinnedScore(entry, fitted, Bins(bits, arrays.get(f"{number}.edges")))
        cells[entry.name] = _unpacked(arrays, f"{number}.", built(each["cells"], int, where="cells"))
    own = {field.name: getattr(record, field.name) for field in fields(Plan) if field.name != "scores"}
    plan = Plan(scores=scores, **own)
    marks = {"rounded": record.rounded, "fitted_bins": record.fitted_bins}
    _check(plan, record.strata, cells, marks)
    stored, known = _scores(plan, {name: len(counted.slots) for name, counted in cells.items()})
    if as_read({"scores": stored})["scores"] != described:
        raise InvalidInputError("scores with other fields, or two of one name")
    if set(arrays) != {*known, *(f"{number}.{name}" for number in range(len(scores)) for name in COUNTS)}:
        raise InvalidInputError("other arrays than its scores have")
    return {"plan": plan, "strata": record.strata, "cells": cells} | {
        mark: frozenset(names) for mark, names in marks.items()
    }


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


def _packed(column: NDArray[Any]) -> NDArray[np.uint8]:
    """A column in the smallest integers that hold it, bytes of equal weight together, compressed."""
    width = _width(column)
    octets = column.astype(f"<u{width}").view(np.uint8).reshape(len(column), width)
    return np.frombuffer(zlib.compress(np.ascontiguousarray(octets.T).tobytes(), 6), np.uint8)


def _unpacked(arrays: Arrays, prefix: str, size: int) -> Cells:
    if not 0 <= size <= MOST_CELLS:
        raise InvalidInputError(f"{size} cells")
    slots, counts, errors = (_column(arrays[f"{prefix}{name}"], size) for name in COUNTS)
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

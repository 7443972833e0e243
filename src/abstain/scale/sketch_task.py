"""From rows of Parquet files to counts that merge: the same work on every engine."""

import json
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, final

from abstain._errors import FileConflictError, InvalidInputError
from abstain._io.fingerprint import digest
from abstain._io.sealed import load_sealed, save_sealed
from abstain.scale.data import Portion
from abstain.scale.draw import HashedDraw
from abstain.scale.reader import ParquetReader
from abstain.scores.given_confidence import Own
from abstain.scores.score import FittedScore, Score
from abstain.scores.state import from_state, to_state
from abstain.sketch import Plan
from abstain.sketch.cells import Cells
from abstain.sketch.plan import BatchCounts, BinnedScore
from abstain.sketch.sketch import Tally

FORMAT, VERSION = "abstain.counts", 1
COLUMNS = ("slots", "counts", "errors")


class PortionCounts(NamedTuple):
    """The counts of a portion."""

    counted: BatchCounts
    unusable: int
    """Rows that are not finite."""


@final
@dataclass(frozen=True)
class SketchTask:
    """Read a portion batch by batch, score it by the fused kernel, and count."""

    reader: ParquetReader
    plan: Plan
    draw: HashedDraw | None
    """The draw of the rows that scores were fitted on, which are left out."""

    def __reduce__(self) -> Any:
        if own := [name for name, score in self.plan.scores.items() if isinstance(score.fitted, Own)]:
            raise InvalidInputError(
                f"`scores` must be scores of abstain, or your own classes, on other processes, got the "
                f"function {own[0]}. Use the engine `local`."
            )
        scores, arrays, rest = packed(self.plan)
        return _sketching, (self.reader, digest(scores, arrays), scores, arrays, rest, self.draw)

    def __call__(self, portion: Portion, /) -> PortionCounts:
        """The counts of its rows."""
        tally, unusable = Tally(self.plan), 0
        for batch in self.reader.batches(portion):
            rest = batch if self.draw is None else self.draw.without(batch)
            if rest is not None:
                tally.update(rest.outputs, numbers=rest.numbers)
                unusable += int((~rest.outputs.usable).sum())
        sketch = tally.sketch()
        return PortionCounts(BatchCounts(sketch.strata, sketch.cells, sketch.rounded), unusable)

    @property
    def fingerprint(self) -> str:
        """A digest of all that the counts depend on except the rows; formulas count by the version of the package."""
        own = [score.fitted for score in self.plan.scores.values() if isinstance(score.fitted, Own)]
        return digest(*packed(self.plan), own, self.reader.nonfinite, self.reader.head, self.draw, version("abstain"))


def packed(plan: Plan, /) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """A plan as a JSON string of its scores, their arrays, and its other fields."""
    arrays: dict[str, Any] = {}
    scores = {}
    for number, (name, score) in enumerate(plan.scores.items()):
        states = [to_state(part, name=f"{number}.{what}") for what, part in (("s", score.entry), ("f", score.fitted))]
        scores[name] = [header for header, _ in states]
        for _, some in states:
            arrays |= some
    bins = {name: score.bins for name, score in plan.scores.items()}
    rest = {field.name: getattr(plan, field.name) for field in fields(plan) if field.name != "scores"}
    return json.dumps(scores), arrays, {"bins": bins, **rest}


_KNOWN: dict[str, dict[str, tuple[Score, FittedScore]]] = {}
"""The scores that this process used last, so that a worker builds them once."""


def _sketching(
    reader: ParquetReader, key: str, scores: str, arrays: dict[str, Any], rest: dict[str, Any], draw: HashedDraw | None
) -> SketchTask:
    if key not in _KNOWN:
        _KNOWN.clear()
        _KNOWN[key] = {
            name: (from_state(entry, arrays, kind=Score), from_state(fitted, arrays, kind=FittedScore))
            for name, (entry, fitted) in json.loads(scores).items()
        }
    bins = rest.pop("bins")
    known = {name: BinnedScore(*pair, bins[name]) for name, pair in _KNOWN[key].items()}
    return SketchTask(reader, Plan(scores=known, **rest), draw)


@final
@dataclass(frozen=True)
class CountsCache:
    """A file for each portion, named by a digest of the rows and of all that their counts depend on."""

    folder: Path
    belongs: str

    def __post_init__(self) -> None:
        if self.folder.exists() and not self.folder.is_dir():
            raise FileConflictError(f"`{self.folder}` must be a folder, got a file. Choose another name.")
        self.folder.mkdir(parents=True, exist_ok=True)

    def _file(self, portion: Portion) -> Path:
        return self.folder / f"{digest(self.belongs, portion.fingerprint)}.counts"

    def get(self, portion: Portion, /) -> PortionCounts | None:
        """The cached counts; None if there are none or their file is damaged."""
        try:
            header, arrays = load_sealed(self._file(portion), FORMAT, VERSION, writer="abstain", again="run again")
        except (OSError, ValueError):
            return None
        cells = {
            name: Cells(*(arrays[f"{number}.{what}"] for what in COLUMNS))
            for number, name in enumerate(header["scores"])
        }
        strata = tuple(tuple(stratum) for stratum in header["strata"])
        return PortionCounts(BatchCounts(strata, cells, frozenset(header["rounded"])), header["unusable"])

    def put(self, portion: Portion, counting: PortionCounts, /) -> None:
        """Cache the counts of a portion; the file is written completely or not at all."""
        counted = counting.counted
        header = {
            "scores": [*counted.cells],
            "strata": counted.strata,
            "rounded": sorted(counted.rounded),
            "unusable": counting.unusable,
        }
        arrays = {
            f"{number}.{what}": getattr(cells, what)
            for number, cells in enumerate(counted.cells.values())
            for what in COLUMNS
        }
        save_sealed(self._file(portion), FORMAT, VERSION, header, arrays)

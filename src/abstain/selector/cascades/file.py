"""A cascade in one file: its stages, its routing and the file of its selector, nothing executable."""

from collections.abc import Iterable
from dataclasses import dataclass
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
from abstain.selector import file as selector_file
from abstain.selector.cascades.routing import LogOdds, Routing
from abstain.selector.cascades.stage import Stage
from abstain.selector.selector import Selector

FORMAT, VERSION = "abstain.cascade", 1
SELECTOR = "selector"  # the array that holds its file
WRITER, AGAIN = "Cascade.save", "calibrate again"
MOST = 16  # stages


@final
@dataclass(frozen=True)
class _Record:
    """Of a stage, besides its score and its odds."""

    name: str
    n_classes: int
    cost: float
    threshold: float


def save(cascade: Any, file: str | PathLike[str], /) -> None:
    """Write one file, whole or not at all."""
    path, contents = as_path("file", file), dumped(cascade)
    write_whole(path, lambda partial: partial.write_bytes(contents))


def dumped(cascade: Any, /) -> bytes:
    """What the file holds."""
    arrays: Arrays = {SELECTOR: np.frombuffer(selector_file.dumped(cascade.selector), dtype=np.uint8)}
    stages = []
    for number, stage in enumerate(cascade.stages):
        record: dict[str, Any] = {
            "name": stage.name,
            "n_classes": stage.n_classes,
            "cost": stage.cost,
            "threshold": cascade.routing.thresholds[number],
        }
        parts = {"score": stage.entry, "fitted": stage.fitted, "odds": cascade.routing.odds[number]}
        for name, part in parts.items():
            record[name], more = to_state(part, name=f"{number}.{name}")
            arrays |= more
        stages.append(record)
    header = {"stages": stages, "human_cost": cascade.human_cost}
    with making("`cascade` must have scores that a file can hold"):
        _fields(as_read(header), arrays, "cascade", ())
    return sealed_bytes(FORMAT, VERSION, header, arrays)


def load(file: str | PathLike[str], /, *, own: Iterable[Any] = ()) -> dict[str, Any]:
    """The fields of the cascade in a file; a truncated, altered, newer or foreign file is refused with the reason."""
    path = as_path("file", file)
    with reading(path, f"a cascade written by {WRITER}"):
        contents = path.read_bytes()
    header, arrays = unsealed(contents, str(file), FORMAT, VERSION, writer=WRITER, again=AGAIN)
    with making(f"`{file}` must be a cascade"):
        return _fields(header, arrays, str(file), own)


def _fields(header: dict[str, Any], arrays: Arrays, file: str, own: Iterable[Any]) -> dict[str, Any]:
    own = [own] if callable(own) else list(own)
    if set(header) != {"stages", "human_cost"} or not isinstance(header["stages"], list):
        raise InvalidInputError("a header with more or other fields")
    if not 2 <= len(header["stages"]) <= MOST:
        raise InvalidInputError(f"{len(header['stages'])} stages")
    states, left = [], dict(arrays)
    selector = Selector(**selector_file.read(left.pop(SELECTOR).tobytes(), file, own=own))
    for number, stage in enumerate(header["stages"]):
        mine = {name: left.pop(name) for name in list(left) if name.startswith(f"{number}.")}
        states.append(_stage(dict(stage), mine, own))
    if left:
        raise InvalidInputError("more arrays than its stages have")
    stages, thresholds, odds = zip(*states, strict=True)
    return {
        "stages": stages,
        "routing": Routing(thresholds, odds),
        "selector": selector,
        "human_cost": built(header["human_cost"], float, where="human_cost"),
    }


def _stage(record: dict[str, Any], arrays: Arrays, own: list[Any]) -> tuple[Stage, float, LogOdds]:
    entry = from_state(record.pop("score"), arrays, kind=Score, own=own)
    fitted = from_state(record.pop("fitted"), arrays, kind=FittedScore, own=own)
    odds = from_state(record.pop("odds"), arrays, kind=LogOdds)
    plain = built(record, _Record, where="stage")
    check_decides(fitted, plain.n_classes)
    odds.check()
    return Stage(plain.name, entry, fitted, plain.n_classes, plain.cost), plain.threshold, odds

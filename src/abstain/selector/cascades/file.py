"""A cascade in one file: its selector, its stages and their routing, nothing executable."""

from typing import Any

from abstain._io.records import built
from abstain._io.sealed import Arrays
from abstain.scores.state import check_decides, from_state, to_state
from abstain.selector.cascades.routing import LogOdds, Routing
from abstain.selector.cascades.stage import Stage
from abstain.selector.file import Own, SealedFile, selector_of, selector_parts
from abstain.selector.selector import Selector


def _parts(cascade: Any) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a cascade."""
    selector, arrays = selector_parts(cascade.selector, prefix="selector.")
    header = {"selector": selector, "thresholds": cascade.routing.thresholds, "human_cost": cascade.human_cost}
    for name, parts in (("stages", cascade.stages), ("odds", cascade.routing.odds)):
        states = [to_state(part, name=f"{name}.{number}") for number, part in enumerate(parts)]
        header[name] = [state for state, _ in states]
        arrays |= {key: array for _, more in states for key, array in more.items()}
    return header, arrays


def _cascade(kind: type[Any], header: dict[str, Any], arrays: Arrays, own: Own) -> Any:
    """The cascade of these parts."""
    stages = [from_state(each, arrays, kind=Stage, own=own) for each in header["stages"]]
    odds = [from_state(each, arrays, kind=LogOdds) for each in header["odds"]]
    for stage in stages:
        check_decides(stage.fitted, stage.n_classes)
    for each in odds:
        each.check()
    thresholds = built(header["thresholds"], tuple[float, ...], where="thresholds")
    return kind(
        stages=tuple(stages),
        routing=Routing(thresholds, tuple(odds)),
        selector=selector_of(Selector, header["selector"], arrays, own),
        human_cost=built(header["human_cost"], float, where="human_cost"),
    )


CASCADE_FILE = SealedFile("abstain.cascade", 2, "Cascade.save", _parts, _cascade)

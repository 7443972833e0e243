"""From rows of Parquet files to counts that merge: the work that every engine does alike."""

import json
from dataclasses import dataclass, fields
from importlib.metadata import version
from typing import Any, NamedTuple, final

from abstain.engines.data import Portion
from abstain.engines.draw import Draw
from abstain.engines.reading import Reader
from abstain.fingerprint import digest
from abstain.scores.given import Own
from abstain.scores.score import FittedScore, Score
from abstain.scores.state import from_state, to_state
from abstain.sketch import Plan
from abstain.sketch.plan import Counted, Scored
from abstain.sketch.tally import Tally


class Counting(NamedTuple):
    """What a portion gave."""

    counted: Counted
    unusable: int
    """Rows that are not finite."""


@final
@dataclass(frozen=True)
class Sketching:
    """Read a portion batch by batch, score it by the fused kernel, and count."""

    reader: Reader
    plan: Plan
    draw: Draw | None
    """Of the rows that scores were fitted on, which are left out."""

    def __reduce__(self) -> Any:
        if own := [name for name, one in self.plan.scores.items() if isinstance(one.fitted, Own)]:
            raise ValueError(
                f"`scores` must be scores of abstain, or classes of yours, to travel to other processes, got the "
                f"function {own[0]}. Use the engine local."
            )
        scores, arrays, rest = packed(self.plan)
        return _sketching, (self.reader, digest(scores, arrays), scores, arrays, rest, self.draw)

    def __call__(self, portion: Portion, /) -> Counting:
        """The counts of its rows."""
        tally, unusable = Tally(self.plan), 0
        for batch in self.reader.batches(portion):
            rest = batch if self.draw is None else self.draw.without(batch)
            if rest is not None:
                tally.update(rest.outputs, numbers=rest.numbers)
                unusable += int((~rest.outputs.usable).sum())
        found = tally.sketch()
        return Counting(Counted(found.strata, found.cells, found.rounded), unusable)

    @property
    def fingerprint(self) -> str:
        """Of all that counts depend on beside the rows, formulas by the version of the package."""
        own = [one.fitted for one in self.plan.scores.values() if isinstance(one.fitted, Own)]
        return digest(*packed(self.plan), own, self.reader.nonfinite, self.reader.head, self.draw, version("abstain"))


def packed(plan: Plan, /) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """A plan as a text of JSON, plain arrays, and the rest, which is plain."""
    arrays: dict[str, Any] = {}
    scores = {}
    for number, (name, one) in enumerate(plan.scores.items()):
        states = [to_state(part, name=f"{number}.{what}") for what, part in (("s", one.entry), ("f", one.fitted))]
        scores[name] = [header for header, _ in states]
        for _, some in states:
            arrays |= some
    bins = {name: one.bins for name, one in plan.scores.items()}
    rest = {field.name: getattr(plan, field.name) for field in fields(plan) if field.name != "scores"}
    return json.dumps(scores), arrays, {"bins": bins, **rest}


_KNOWN: dict[str, dict[str, tuple[Score, FittedScore]]] = {}
"""The scores that this process had last, so that a worker builds them once."""


def _sketching(
    reader: Reader, key: str, scores: str, arrays: dict[str, Any], rest: dict[str, Any], draw: Draw | None
) -> Sketching:
    if key not in _KNOWN:
        _KNOWN.clear()
        _KNOWN[key] = {
            name: (from_state(entry, arrays, kind=Score), from_state(fitted, arrays, kind=FittedScore))
            for name, (entry, fitted) in json.loads(scores).items()
        }
    bins = rest.pop("bins")
    known = {name: Scored(*one, bins[name]) for name, one in _KNOWN[key].items()}
    return Sketching(reader, Plan(scores=known, **rest), draw)

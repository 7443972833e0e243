"""What is counted, and how: what sketches must have in common to be merged."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self, final, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.fingerprint import digest
from abstain.names import check_name
from abstain.outputs import Outputs
from abstain.scores.confidences import confidences
from abstain.scores.score import FittedScore, Score
from abstain.scores.state import to_state
from abstain.sketch.bins import BITS, Bins
from abstain.sketch.cells import Cells
from abstain.sketch.identity import parts_of
from abstain.sketch.strata import MOST, Stratum, populations

By = Literal["shift", "domain", "class"]
Ints = NDArray[np.int64]
PARTS = 32


class Scored(NamedTuple):
    """A score, fitted, and the bins of its confidence."""

    entry: Score
    fitted: FittedScore
    bins: Bins


class Counted(NamedTuple):
    """What a batch of rows gave."""

    strata: tuple[Stratum, ...]
    """In the order of their names."""
    cells: dict[str, Cells]
    rounded: frozenset[str]
    """Scores that keep all bits of a float32 and had a confidence that is none."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """Scores with their bins, the populations that are kept apart, and the parts that tell how sure a value is."""

    scores: Mapping[str, Scored]
    by: tuple[By, ...] = ("shift",)
    """Rows are kept apart by these: the shift, the domain, the predicted class."""
    parts: int = PARTS
    """Rows are in one of so many parts by a hash of their ids, all scores alike; 1 for none."""
    has_ids: bool = False
    """Whether rows have ids that may repeat, here or in sketches to be merged with; else every row is independent."""
    n_classes: int = 0
    class_names: tuple[str, ...] | None = None
    head: str | None = None
    """A digest of the last layer, where a score looks at it."""

    def __post_init__(self) -> None:
        if not self.scores:
            raise ValueError("`scores` must name at least one score, got none.")
        for one in self.by:
            check_name("by", one, get_args(By))
        if len(set(self.by)) < len(self.by) or type(self.parts) is not int or not 1 <= self.parts <= 4096:
            raise ValueError(f"`by` and `parts` must be different names and 1 to 4096, got {self.by} and {self.parts}.")
        if self.has_ids and self.parts == 1:
            raise ValueError(
                "`plan` must have parts for ids that may repeat, whose standard errors need them, got none, as in a "
                "sketch that was made coarse. Count one row of each sample, with `distinct`."
            )

    @classmethod
    def of(
        cls,
        fitted: Mapping[str, tuple[Score, FittedScore]],
        outputs: Outputs,
        /,
        *,
        bins: Bins | Mapping[str, Bins] | None = None,
        by: tuple[By, ...] = ("shift",),
        parts: int = PARTS,
        distinct: bool = False,
    ) -> Self:
        """The plan for fitted scores by name, with their entries, and for outputs such as these.

        Where there are ids, several rows may show the same sample, unless ``distinct`` says that none repeats.
        """
        each = bins if isinstance(bins, Mapping) else dict.fromkeys(fitted, bins or Bins(BITS))
        if lacking := [name for name in fitted if name not in each]:
            raise ValueError(f"`bins` must be given for {', '.join(lacking)}, got those of {', '.join(each)}.")
        return cls(
            scores={name: Scored(*one, each[name]) for name, one in fitted.items()},
            by=by,
            parts=parts,
            has_ids=outputs.ids is not None and not distinct,
            n_classes=outputs.n_classes,
            class_names=outputs.class_names,
            head=_head(outputs) if any(one.uses_head for _, one in fitted.values()) else None,
        )

    def matching(self, outputs: Outputs, /, *, distinct: bool = False) -> Self:
        """The same scores, bins and populations for outputs such as these, whose ids may repeat if they have any."""
        return replace(self, has_ids=outputs.ids is not None and not distinct)

    def count(self, outputs: Outputs, /, *, numbers: ArrayLike | None = None) -> Counted:
        """The cells of outputs; ``numbers`` (n,) tell rows without ids apart, their place by default."""
        if self.has_ids and outputs.ids is None:
            raise ValueError("`outputs` must have ids, as several rows may show the same sample, got none.")
        if not self.has_ids and outputs.ids is not None and (samples := outputs.samples[1]) < len(outputs):
            raise ValueError(f"`outputs` must have distinct ids, got {samples} in {len(outputs)} rows.")
        if outputs.n_classes != self.n_classes:
            raise ValueError(f"`outputs` must have {self.n_classes} classes, got {outputs.n_classes}.")
        if self.head is not None and _head(outputs) != self.head:
            raise ValueError("`outputs` must have the last layer of the plan, which a score looks at, got another.")
        found = confidences(outputs, {name: one.fitted for name, one in self.scores.items()})
        ids = outputs.ids
        if ids is None:
            ids = np.arange(len(outputs)) if numbers is None else np.asarray(numbers)
        return self.count_pairs(found, outputs.errors, ids, [self._names(outputs, one) for one in self.by])

    def count_pairs(
        self,
        confidence: Mapping[str, NDArray[np.floating]],
        errors: NDArray[np.bool_],
        ids: Any,
        names: list[NDArray[Any]],
        /,
    ) -> Counted:
        """The cells of confidences by score, with errors, ids and, for each of ``by``, the name of every row."""
        if ids is not None and len(ids) != len(errors):
            raise ValueError(f"`ids` must be as many as the rows, {len(errors)}, got {len(ids)}.")
        strata, code = populations(names, len(errors))
        if self.parts > 1:
            if len(strata) * self.parts > MOST:
                raise ValueError(f"`by` must give fewer populations than {MOST // self.parts}, got {len(strata)}.")
            code = code * self.parts + parts_of(ids, self.parts) if code.size else parts_of(ids, self.parts)
        cells, rounded = {}, set()
        for name, one in self.scores.items():
            values = confidence[name]
            cells[name] = Cells.of(values, errors, code, one.bins)
            if one.bins.keeps_all and values.dtype != np.float32:
                with np.errstate(over="ignore", invalid="ignore"):
                    if (values.astype(np.float32) != values)[~np.isnan(values)].any():
                        rounded.add(name)
        return Counted(strata, cells, frozenset(rounded))

    def _names(self, outputs: Outputs, by: By) -> NDArray[Any]:
        if by == "shift":
            return outputs.shift
        if by == "class":
            return outputs.predictions
        if outputs.domain is None:
            raise ValueError("`outputs` must have domains to be counted by domain, got none.")
        return outputs.domain

    def differs(self, other: "Plan", /) -> str | None:
        """In words the first thing that is different, or None."""
        if set(self.scores) != set(other.scores):
            return f"the scores {', '.join(sorted(self.scores))} and {', '.join(sorted(other.scores))}"
        for name in sorted(self.scores):
            if words := self.scores[name].bins.differs(other.scores[name].bins):
                return f"{name} in {words}"
            if _state(self.scores[name]) != _state(other.scores[name]):
                return f"{name} fitted differently"
        for field, words in (
            ("by", "rows kept apart by"),
            ("parts", "parts:"),
            ("has_ids", "ids that may repeat (where they do not, count with `distinct`):"),
            ("n_classes", "classes:"),
            ("class_names", "names of classes:"),
            ("head", "last layers:"),
        ):
            mine, others = getattr(self, field), getattr(other, field)
            if mine != others:
                return f"{words} {mine!r:.60} and {others!r:.60}"
        return None


def _head(outputs: Outputs) -> str:
    return digest(outputs.weight, outputs.bias)[:16]


def _state(one: Scored) -> str:
    """A digest of everything the confidence depends on; 2 and 2.0, which a file makes of it, are the same."""
    states = (to_state(one.entry), to_state(one.fitted))
    return digest(*((json.loads(json.dumps(header), parse_int=float), arrays) for header, arrays in states))

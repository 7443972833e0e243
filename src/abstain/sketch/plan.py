"""`Plan`: what is counted, and how; sketches with the same plan merge."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self, final, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._errors import InvalidInputError
from abstain._io.fingerprint import digest
from abstain._names import check_name
from abstain.outputs import Outputs
from abstain.scores.confidences import confidences
from abstain.scores.score import FittedScore, Score
from abstain.scores.state import to_state
from abstain.sketch.bins import BITS, Bins
from abstain.sketch.cells import MOST, Cells, Stratum, parts_of, populations

By = Literal["shift", "domain", "class"]
PARTS = 32


class BinnedScore(NamedTuple):
    """A score, fitted, and the bins of its confidence."""

    entry: Score
    fitted: FittedScore
    bins: Bins


class BatchCounts(NamedTuple):
    """The counts of a batch of rows."""

    strata: tuple[Stratum, ...]
    """In the order of their names."""
    cells: dict[str, Cells]
    rounded: frozenset[str]
    """Scores that keep all bits of a float32 and had a confidence that is none."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """Scores with their bins, populations that are counted separately, and parts for standard errors.

    Parameters
    ----------
    scores : mapping of str to BinnedScore
        Fitted scores and the bins of their confidences.
    by : tuple of {"shift", "domain", "class"}
        What rows are counted separately by.
    parts : int
        The number of parts, by a hash of the ids, the same for all scores; 1 for none.
    has_ids : bool
        Whether ids may repeat, here or in sketches to merge with. Otherwise every row is independent.
    n_classes : int
        The number of classes.
    class_names : tuple of str or None
        Their names.
    head : str or None
        A digest of the last layer, if a score uses it.
    """

    scores: Mapping[str, BinnedScore]
    by: tuple[By, ...] = ("shift",)
    """Rows are counted separately by these: the shift, the domain, the predicted class."""
    parts: int = PARTS
    """The number of parts, by a hash of the ids, the same for all scores; 1 for none."""
    has_ids: bool = False
    """Whether rows have ids that may repeat, here or in sketches to be merged with; else every row is independent."""
    n_classes: int = 0
    class_names: tuple[str, ...] | None = None
    head: str | None = None
    """A digest of the last layer, if a score uses it."""

    def __post_init__(self) -> None:
        if not self.scores:
            raise InvalidInputError("`scores` must name at least one score, got none.")
        for name in self.by:
            check_name("by", name, get_args(By))
        if len(set(self.by)) < len(self.by) or type(self.parts) is not int or not 1 <= self.parts <= 4096:
            raise InvalidInputError(
                f"`by` must be distinct names and `parts` 1 to 4096, got {self.by} and {self.parts}."
            )
        if self.has_ids and self.parts == 1:
            raise InvalidInputError(
                "`plan` must have parts if ids may repeat, since standard errors need them, got none, as after "
                "`minimum`. Count one row per sample, with `distinct`."
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

        If there are ids, several rows may show the same sample, unless ``distinct``.
        """
        each = bins if isinstance(bins, Mapping) else dict.fromkeys(fitted, bins or Bins(BITS))
        if lacking := [name for name in fitted if name not in each]:
            raise InvalidInputError(f"`bins` must be given for {', '.join(lacking)}, got those of {', '.join(each)}.")
        return cls(
            scores={name: BinnedScore(*pair, each[name]) for name, pair in fitted.items()},
            by=by,
            parts=parts,
            has_ids=outputs.ids is not None and not distinct,
            n_classes=outputs.n_classes,
            class_names=outputs.class_names,
            head=_head(outputs) if any(score.uses_head for _, score in fitted.values()) else None,
        )

    def matching(self, outputs: Outputs, /, *, distinct: bool = False) -> Self:
        """The same scores, bins and populations for outputs such as these, whose ids may repeat if they have any."""
        return replace(self, has_ids=outputs.ids is not None and not distinct)

    def count(self, outputs: Outputs, /, *, numbers: ArrayLike | None = None) -> BatchCounts:
        """The cells of outputs; ``numbers`` (n,) identify rows without ids, by default their index."""
        if self.has_ids and outputs.ids is None:
            raise InvalidInputError("`outputs` must have ids, since the plan allows several rows per sample, got none.")
        if not self.has_ids and outputs.ids is not None and (samples := outputs.samples[1]) < len(outputs):
            raise InvalidInputError(f"`outputs` must have distinct ids, got {samples} in {len(outputs)} rows.")
        if outputs.n_classes != self.n_classes:
            raise InvalidInputError(
                f"`outputs` must have {self.n_classes or 'confidences without'} classes, as the plan has, got "
                f"{outputs.n_classes} classes."
            )
        if self.head is not None and _head(outputs) != self.head:
            raise InvalidInputError(
                "`outputs` must have the last layer of the plan, which a score uses, got a different one."
            )
        confidence = confidences(outputs, {name: score.fitted for name, score in self.scores.items()})
        ids = outputs.ids
        if ids is None:
            ids = np.arange(len(outputs)) if numbers is None else np.asarray(numbers)
        return self.count_pairs(confidence, outputs.errors, ids, [self._names(outputs, kind) for kind in self.by])

    def count_pairs(
        self,
        confidence: Mapping[str, NDArray[np.floating]],
        errors: NDArray[np.bool_],
        ids: Any,
        names: list[NDArray[Any]],
        /,
    ) -> BatchCounts:
        """The cells of confidences by score, with errors, ids and, for each of ``by``, the name of every row."""
        if ids is not None and len(ids) != len(errors):
            raise InvalidInputError(f"`ids` must have one entry for each of {len(errors)} rows, got {len(ids)}.")
        strata, code = populations(names, len(errors))
        if self.parts > 1:
            if len(strata) * self.parts > MOST:
                raise InvalidInputError(f"`by` must give at most {MOST // self.parts} populations, got {len(strata)}.")
            code = code * self.parts + parts_of(ids, self.parts) if code.size else parts_of(ids, self.parts)
        cells, rounded = {}, set()
        for name, score in self.scores.items():
            values = confidence[name]
            cells[name] = Cells.of(values, errors, code, score.bins)
            if score.bins.keeps_all and values.dtype != np.float32:
                with np.errstate(over="ignore", invalid="ignore"):
                    if (values.astype(np.float32) != values)[~np.isnan(values)].any():
                        rounded.add(name)
        return BatchCounts(strata, cells, frozenset(rounded))

    def _names(self, outputs: Outputs, by: By) -> NDArray[Any]:
        if by == "shift":
            return outputs.shift
        if by == "class":
            return outputs.predictions
        if outputs.domain is None:
            raise InvalidInputError("`outputs` must have groups (`domain`) to be counted by group, got none.")
        return outputs.domain

    def differs(self, other: "Plan", /) -> str | None:
        """A description of the first difference, or None."""
        if set(self.scores) != set(other.scores):
            return f"the scores {', '.join(sorted(self.scores))} and {', '.join(sorted(other.scores))}"
        for name in sorted(self.scores):
            if words := self.scores[name].bins.differs(other.scores[name].bins):
                return f"{name} in {words}"
            if _state(self.scores[name]) != _state(other.scores[name]):
                return f"{name} fitted differently"
        for field, words in (
            ("by", "rows counted separately by"),
            ("parts", "parts:"),
            ("has_ids", "ids that may repeat (if they do not, sketch with `distinct`):"),
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


def _state(score: BinnedScore) -> str:
    """A digest of everything the confidence depends on; 2 and 2.0, which a file makes of it, are the same."""
    states = (to_state(score.entry), to_state(score.fitted))
    return digest(*((json.loads(json.dumps(header), parse_int=float), arrays) for header, arrays in states))

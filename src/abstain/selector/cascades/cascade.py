"""`Cascade`: several models in turn, and a person for the rows that none of them answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from os import PathLike
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._errors import InvalidInputError
from abstain._io.sealed import seal
from abstain._text import listed
from abstain.outputs import Outputs
from abstain.selector.cascades.file import CASCADE_FILE
from abstain.selector.cascades.matching import MatchedRows
from abstain.selector.cascades.routing import Routing
from abstain.selector.cascades.stage import Stage, combined_outputs, stage_confidence
from abstain.selector.selector import Selector

PERSON = "person"
DEFERRED = "no stage is confident enough"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Cascade:
    """Several models in turn, cheapest first, and a person last, with one guarantee on all that they answer.

    `cascade` makes it. A row is answered by the first stage whose confidence is above the threshold of that stage, else
    by a person. ``selector`` holds the guarantee: it decides on `combined`, where every row has the outputs of its own
    stage, so that all stages together are one classifier to `abstain.certify`, `abstain.monitor` and the report.

    Attributes
    ----------
    stages : tuple of Stage
        The models with their scores and costs, cheapest first.
    routing : Routing
        Which stage a row goes to, and how far its answer is trusted.
    selector : Selector
        Decides on the combined outputs; its score is the estimated log-odds that the answer is right.
    human_cost : float
        Of a row that a person answers.
    """

    stages: tuple[Stage, ...]
    routing: Routing
    selector: Selector
    human_cost: float

    def __post_init__(self) -> None:
        if not len(self.stages) == len(self.routing.thresholds) == len(self.routing.odds) >= 2:
            raise InvalidInputError(
                f"`stages` must be at least 2, as many as the routing has thresholds, got {len(self.stages)}."
            )

    def __repr__(self) -> str:
        return f"<Cascade: {' → '.join(self.names)} → {PERSON}; print(cascade.summary()) shows its guarantee>"

    def _repr_html_(self) -> str:
        return f"<b>Cascade</b><br>{escape(self.summary())}"

    @property
    def names(self) -> tuple[str, ...]:
        """Of the stages."""
        return tuple(stage.name for stage in self.stages)

    @property
    def costs(self) -> tuple[float, ...]:
        """Of running each stage on a row."""
        return tuple(stage.cost for stage in self.stages)

    @property
    def thresholds(self) -> dict[str, float]:
        """The confidence above which each stage answers a row that reaches it; decisions are not made by it."""
        groups = self.selector.groups
        values = (
            np.full(len(self.names), self.selector.threshold.value)
            if groups is None or groups.is_by_class
            else groups.values(np.array(self.names))
        )
        return {name: self.routing.least(stage, float(values[stage])) for stage, name in enumerate(self.names)}

    @property
    def guaranteed_per(self) -> str | None:
        """``stage`` where there is a guarantee on the answers of each stage, besides that on all of them."""
        t, groups = self.selector.threshold, self.selector.groups
        of_each = any(each.groups for each in t.guarantees)
        return "stage" if of_each or (groups is not None and not groups.is_by_class) else None

    def matched(self, outputs: Sequence[Outputs], /) -> MatchedRows:
        """The rows of all stages, matched by id or by order."""
        return MatchedRows.of(outputs, self.names)

    def deferred(self, outputs: Sequence[Outputs], /) -> NDArray[np.bool_]:
        """Which rows (n,) go on to the next stage, given the outputs of the first few stages.

        Run the next model on these rows alone, and match them by ids: `decide` needs no others of it.
        """
        seen = len(outputs)
        if not 1 <= seen < len(self.stages):
            raise InvalidInputError(
                f"`outputs` must be those of the first stages, 1 to {len(self.stages) - 1}, got {seen}."
            )
        matched = MatchedRows.of(outputs, self.names[:seen])
        confidence = stage_confidence(self.stages[:seen], matched)
        answered: NDArray[np.bool_] = np.any(confidence > np.array(self.routing.thresholds[:seen]), axis=1)
        return ~answered

    def combined(self, outputs: Sequence[Outputs], /, *, domain: ArrayLike | None = None) -> Outputs:
        """The outputs of the cascade as one classifier: each row has those of its own stage, which is its domain.

        With ``domain`` (n,), the domains are groups of yours instead of the stages, which must share one threshold.
        """
        if domain is not None and self.selector.groups is not None and not self.selector.groups.is_by_class:
            raise InvalidInputError("`domain` must be left out where each stage has a threshold, got groups.")
        matched = self.matched(outputs)
        confidence = stage_confidence(self.stages, matched)
        stages = self.routing.stages(confidence)
        self._check_run(matched, stages)
        return combined_outputs(matched, stages, self.routing.confidence(confidence), domain=domain)

    def accepts(self, outputs: Sequence[Outputs], /) -> NDArray[np.bool_]:
        """Which rows (n,) a stage answers; the others go to a person."""
        return self.selector.accepts(self.combined(outputs))

    def answers(self, outputs: Sequence[Outputs], /) -> NDArray[np.int64]:
        """The answer (n,) of the stage that answers, −1 where a person must."""
        return self.selector.answers(self.combined(outputs))

    def row_costs(self, outputs: Sequence[Outputs], /) -> NDArray[np.float64]:
        """(n,) what each row costs: the stages that are run on it, and a person where none of them answers."""
        return self.costs_of(self.combined(outputs))

    def costs_of(self, combined: Outputs, /) -> NDArray[np.float64]:
        """The same for combined outputs."""
        stage = self.numbers_of(combined)
        return np.cumsum(self.costs)[stage] + self.human_cost * ~self.selector.accepts(combined)

    def numbers_of(self, combined: Outputs, /) -> NDArray[np.int64]:
        """(n,) the number of the stage of each row of combined outputs."""
        assert combined.domain is not None
        return np.argmax(combined.domain[:, None] == np.array(self.names), axis=1)

    def decide(self, outputs: Sequence[Outputs], /) -> dict[str, NDArray[Any]]:
        """Columns with a value for each row, as of `Selector.decide`, and the stage that answers it.

        ``stage`` is the last stage that is run on the row, ``answered_by`` the same or "person", and ``confidence`` the
        estimated log-odds that the answer of the stage is right.
        """
        combined = self.combined(outputs)
        decided = self.selector.decide(combined)
        stage = decided.pop("group")
        columns = {"id": decided.pop("id"), "stage": stage}
        columns["answered_by"] = np.where(decided["accepted"], stage, PERSON)
        first = outputs[0]
        if first.domain is not None:
            columns["group"] = first.domain
        decided["reason"] = np.where(decided["reason"] == f"low {self.selector.score}", DEFERRED, decided["reason"])
        return columns | decided

    def summary(self) -> str:
        """What it does and what it guarantees, in plain words."""
        t = self.selector.threshold
        return (
            f"{self._rule()} Guarantee by {t.method}, on the answers of all stages together: "
            f"{t.words} Observed (not guaranteed): {t.observed}.{self._others()}"
        )

    def _rule(self) -> str:
        """Who answers a row."""
        values, scores = self.thresholds, {stage.name: stage.entry.name for stage in self.stages}
        rules = [
            f"by {name}" + (f" if its {scores[name]} > {value:.6g}" if value > -np.inf else "")
            for name, value in values.items()
            if value < np.inf
        ]
        idle = [name for name, value in values.items() if value == np.inf]
        asked = f" {listed(idle)} would answer nothing." if idle else ""
        return f"Each row is answered {', else '.join([*rules, f'by a {PERSON}'])}.{asked}"

    def _others(self) -> str:
        data = self.selector.calibration
        if data is None or not data.held_out:
            return ""
        return (
            f" Of the {data.rows:,} rows given, {data.held_out:,} chose the thresholds between stages and "
            f"{self.selector.threshold.n:,} certify."
        )

    def _check_run(self, matched: MatchedRows, stages: NDArray[np.int64]) -> None:
        """Each stage must have been run on the rows that reach it."""
        for number in range(1, len(self.stages)):
            missing = np.flatnonzero((stages >= number) & ~matched.is_present(number))
            if missing.size:
                assert matched.first.ids is not None
                raise InvalidInputError(
                    f"`outputs` at {self.names[number]} must have every row that the stages before it do not answer, "
                    f"got none for {missing.size:,} rows, {str(matched.first.ids[missing[0]])!r} first."
                )

    @property
    def digest(self) -> str:
        """SHA-256 of all that it is."""
        return seal(CASCADE_FILE.dumped(self))

    def save(self, file: str | PathLike[str], /) -> None:
        """Write one file, whole or not at all."""
        CASCADE_FILE.save(self, file)

    @classmethod
    def load(cls, file: str | PathLike[str], /, *, scores: Iterable[Any] = ()) -> Self:
        """Read a file written by `save`; a truncated, altered, newer or foreign file is refused with the reason.

        The file does not contain scoring functions of yours: pass them in ``scores``.
        """
        return CASCADE_FILE.load(cls, file, own=scores)

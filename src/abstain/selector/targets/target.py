"""What all targets have in common."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import check_fraction
from abstain._errors import InvalidInputError
from abstain._names import check_name
from abstain.outputs import Outputs
from abstain.scores import EXPECTED_COST
from abstain.scores.confidences import outcomes, predictions
from abstain.scores.score import FittedScore, Score
from abstain.selector.choice import Scores, candidates
from abstain.selector.group_thresholds import GroupThresholds
from abstain.sketch import Sketch
from abstain.thresholds.methods import METHODS, TargetName, methods_for
from abstain.thresholds.sample import check_chance
from abstain.thresholds.threshold import Threshold

Per = Literal["class", "domain", "group"]
WhenImpossible = Literal["raise", "reject_all"]
Thresholds = tuple[Threshold, GroupThresholds | None]
"""The threshold, and those of the groups where there are some."""


def is_default(value: Any, default: Any, /) -> bool:
    """Whether an option has its default, which is never an array."""
    return value is default or (isinstance(value, str | bool | int | float) and value == default)


@dataclass(frozen=True)
class ScoredRows:
    """Rows to certify a threshold on, with the confidence of a fitted score."""

    outputs: Outputs
    fitted: FittedScore
    confidence: NDArray[np.float64]
    seed: int
    """Of the draws of a rule."""

    @property
    def outcomes(self) -> NDArray[Any]:
        """(n,) whether each answer is wrong, or its loss; a score may have changed the answers."""
        return outcomes(self.outputs, self.fitted)

    @property
    def predictions(self) -> NDArray[np.int64]:
        """(n,) the answers."""
        return predictions(self.outputs, self.fitted)


@dataclass(frozen=True, repr=False)
class Target(ABC):
    """What a selector is to guarantee, with what probability and by which rule.

    A subclass is a final frozen dataclass whose fields are its options. ``keys`` are those that name it in the short
    form, and `threshold` finds its threshold; the other methods have defaults, which only some targets replace. A key
    is a share between 0 and 1, unless the metadata of its field has another ``check``, a function of its name and
    value.

    Parameters
    ----------
    delta : float or None
        The probability with which the guarantee may fail; None for one in expectation, where the target has it.
    method : str, optional
        The name of a rule, by default the first.
    """

    target_name: ClassVar[TargetName]
    """What its rules are listed under in `abstain.thresholds.methods`."""
    keys: ClassVar[tuple[str, ...]]
    """The required fields, which identify the target in the short form; its guarantee has one of them as quantity."""
    in_expectation: ClassVar[bool] = False
    """Whether ``delta=None`` asks for a guarantee in expectation."""
    delta: float | None = field(default=0.05, kw_only=True)
    method: str | None = field(default=None, kw_only=True)

    @final
    def __post_init__(self) -> None:
        if self.delta is not None:
            check_chance("delta", self.delta)
        elif not self.in_expectation:
            raise InvalidInputError(f"`delta` must be given for a target {' and '.join(self.keys)}, got None.")
        for each in fields(self):
            if each.name in self.keys or "check" in each.metadata:
                each.metadata.get("check", check_fraction)(each.name, getattr(self, each.name))
        self.check()
        if self.method is not None:
            check_name("method", self.method, self.methods)

    def check(self) -> None:  # noqa: B027
        """Raise an error for options that do not go together."""

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of its rules, the default first."""
        return methods_for(self.target_name)

    @abstractmethod
    def threshold(self, rows: ScoredRows, /) -> Thresholds:
        """The threshold that keeps the target; `NoSafeThresholdError` where there is none."""

    @property
    def alpha(self) -> float:
        """Scores are compared by the AURC up to this coverage."""
        return 1.0

    def scores(self, asked: Scores | None, outputs: Outputs, /) -> list[Score]:
        """The scores to choose among, all of which outputs and target allow; one where there is nothing to choose."""
        if asked == EXPECTED_COST.name:
            raise InvalidInputError(f"`score` must not be expected_cost without a `cost`, got {self!r}. Use Cost(…).")
        return candidates(asked, outputs)

    def labelled(self, outputs: Outputs, _confidence: NDArray[np.float64], /) -> Outputs:
        """The rows, each with an outcome; a target with a floor needs no labels below it."""
        return outputs

    def fallback(self, _n: int, /) -> Threshold | None:
        """The threshold of n rows where none keeps the target; None where that is an error."""
        return None

    def threshold_of_sketch(self, _sketch: Sketch, _score: str, /) -> Thresholds:
        """The threshold that keeps the target on counts of rows alone, between bins."""
        raise InvalidInputError(f"A sketch must be calibrated for a risk or a coverage, got {self!r}. Use the outputs.")

    @final
    def by_rule(self, rows: ScoredRows, /, *columns: ArrayLike | None, rule: Any = None, **options: Any) -> Any:
        """What the rule of its method, or another, makes of the confidence and other columns of these rows."""
        rule = rule or METHODS[self.method or self.methods[0]].rule
        known = {"delta": self.delta, "ids": rows.outputs.ids, "seed": rows.seed}
        return rule(rows.confidence, *columns, **known, **options)

    def __repr__(self) -> str:
        ordered = sorted(fields(self), key=lambda each: each.name not in self.keys)
        values = {each.name: getattr(self, each.name) for each in ordered}
        changed = [each.name for each in ordered if not is_default(values[each.name], each.default)]
        shown = [f"{'' if name in self.keys else f'{name}='}{values[name]!r}" for name in changed]
        return f"{type(self).__name__}({', '.join(shown)})"

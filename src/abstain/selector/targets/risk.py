"""`Risk`: at most so large a share of errors among the accepted rows, of all or of each group."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, final, get_args

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import check_number
from abstain._errors import InvalidInputError
from abstain._names import check_name
from abstain.outputs import Outputs
from abstain.scores.score import Score
from abstain.selector.calibration_data import class_names_of, largest_cluster
from abstain.selector.choice import Scores
from abstain.selector.group_thresholds import GroupThresholds
from abstain.selector.targets.target import Per, ScoredRows, Target, Thresholds, WhenImpossible
from abstain.sketch import Sketch
from abstain.sketch.thresholds import target_risk as target_risk_of_counts
from abstain.thresholds.methods import methods_for
from abstain.thresholds.per_group import certified_groups, of_all_groups
from abstain.thresholds.risk import reject_all
from abstain.thresholds.sample import check_largest
from abstain.thresholds.target_risk import labelled_above, target_risk
from abstain.thresholds.threshold import Threshold


def check_per(name: str, per: Per | None, /) -> None:
    """A kind of group, or none."""
    if per is not None:
        check_name(name, per, get_args(Per), rule="be class or domain (also called group)")


def check_when_impossible(name: str, when_impossible: WhenImpossible, /) -> None:
    """What is done where no threshold is certified."""
    check_name(name, when_impossible, get_args(WhenImpossible), rule="be raise or reject_all")


@final
@dataclass(frozen=True, repr=False)
class Risk(Target):
    """At most ``risk`` of the accepted rows are wrong, with probability 1 − δ over the calibration sample.

    Parameters
    ----------
    risk : float
        The largest share of errors.
    delta : float
        The probability with which the guarantee may fail.
    per : {"class", "domain", "group"} or None
        ``"class"`` gives each predicted class a threshold of its own, ``"domain"`` (or ``"group"``) each domain; one
        without a safe threshold is always rejected.
    jointly : bool
        Whether all groups hold together with probability 1 − δ, or each by itself.
    method : str, optional
        ``"step_down"``, ``"betting"``, ``"sgr"`` or ``"bonferroni"``; by default `step_down`, or `betting` for rows in
        clusters.
    largest_cluster : int or None
        Rows that share an id in deployment at most, by default as many as here.
    label_above : float or None
        Labels of rows at or below this confidence are ignored, and those rows are never accepted. Fix it before
        labelling, for example by `abstain.thresholds.label_floor`.
    when_impossible : {"raise", "reject_all"}
        ``"reject_all"`` makes a selector that accepts nothing where no threshold is certified.

    Examples
    --------
    >>> Risk(0.02, per="class")
    Risk(0.02, per='class')
    """

    target_name: ClassVar = "risk"
    keys: ClassVar = ("risk",)
    risk: float
    per: Per | None = field(default=None, kw_only=True, metadata={"check": check_per})
    jointly: bool = field(default=True, kw_only=True)
    largest_cluster: int | None = field(default=None, kw_only=True)
    label_above: float | None = field(default=None, kw_only=True)
    when_impossible: WhenImpossible = field(default="raise", kw_only=True, metadata={"check": check_when_impossible})

    def check(self) -> None:
        """Raise an error for options that do not go together."""
        if self.largest_cluster is not None:
            check_largest("largest_cluster", self.largest_cluster)
            if self.method not in (None, "betting", "group_thresholds"):
                raise InvalidInputError(
                    f"`largest_cluster` must come with the default method or betting, got {self.method}, which takes "
                    "one row of each cluster."
                )
        if self.label_above is not None:
            check_number("label_above", self.label_above)
            if self.label_above != self.label_above:
                raise InvalidInputError("`label_above` must be a confidence, got NaN.")
            if self.per is not None or self.method is not None:
                other = f"per={self.per!r}" if self.method is None else f"method={self.method!r}"
                raise InvalidInputError(f"`label_above` must come without `per` and `method`, got {other}.")

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of its rules, the default first."""
        return methods_for("risk" if self.per is None else "risk per group")

    def labelled(self, outputs: Outputs, confidence: NDArray[np.float64], /) -> Outputs:
        """The rows, each with an outcome: missing ones at or below the floor count as errors."""
        return outputs if self.label_above is None else outputs.known_above(confidence > self.label_above)

    def scores(self, asked: Scores | None, outputs: Outputs, /) -> list[Score]:
        """The scores to choose among; an error where rows without labels would choose or fit one."""
        scores = super().scores(asked, outputs)
        if self.label_above is not None and (len(scores) > 1 or scores[0].needs_fitting):
            names = ", ".join(score.name for score in scores[:3])
            raise InvalidInputError(
                f"`label_above` must come with one score that needs no fitting, got {names}. Rows without labels can "
                "neither choose nor fit a score."
            )
        return scores

    def threshold(self, rows: ScoredRows, /) -> Thresholds:
        """The threshold that keeps the target, or one for each group."""
        options: dict[str, Any] = {"risk": self.risk}
        if self.largest_cluster is not None:
            options["largest"] = self._largest_of(rows)
        if self.label_above is not None:
            options |= {"floor": self.label_above}
            return self.by_rule(rows, rows.outcomes, rule=labelled_above, **options), None
        if self.per is None:
            rule = target_risk if self.method is None else None
            return self.by_rule(rows, rows.outcomes, rule=rule, **options), None
        thresholds = self.by_rule(rows, rows.outcomes, group_names(self.per, rows), jointly=self.jointly, **options)
        largest = None if rows.outputs.ids is None else self.largest_cluster or largest_cluster(rows.outputs)
        return self._of_all(thresholds, largest), GroupThresholds(self.per, thresholds)

    def _of_all(self, thresholds: dict[str, Threshold], largest: int | None = None) -> Threshold:
        assert self.delta is not None
        return of_all_groups(thresholds, risk=self.risk, delta=self.delta, jointly=self.jointly, largest=largest)

    def _largest_of(self, rows: ScoredRows) -> int | None:
        """The rows that a cluster may have, as many as one has at least."""
        asked = self.largest_cluster
        if rows.outputs.ids is None:
            raise InvalidInputError(
                f"`largest_cluster` must come with ids, which say what a cluster is, got {asked} for outputs without."
            )
        if asked is not None and asked < (here := largest_cluster(rows.outputs)):
            raise InvalidInputError(
                f"`largest_cluster` must be at least what the outputs have, {here} rows with one id, got {asked}."
            )
        return asked

    def threshold_of_sketch(self, sketch: Sketch, score: str, /) -> Thresholds:
        """The threshold between bins, or one for each class or domain that the sketch keeps apart."""
        assert self.delta is not None
        if self.per is None:
            counts = sketch.counts(score)
            return target_risk_of_counts(counts, risk=self.risk, delta=self.delta, method=self.method), None
        by = "class" if self.per == "class" else "domain"
        names = sketch.names(by)
        called = class_names_of(np.array(names, dtype=np.int64), sketch.plan.class_names) if by == "class" else names
        parts = {str(name): sketch.counts(score, **{by: [key]}) for name, key in zip(called, names, strict=True)}
        finite = {name: part for name, part in parts.items() if (part.bins > 0).any()}

        def certify(name: str, level: float) -> Threshold:
            return target_risk_of_counts(finite[name], risk=self.risk, delta=level)

        sizes = {name: part.n for name, part in finite.items()}
        thresholds = certified_groups(sizes, certify, risk=self.risk, delta=self.delta, jointly=self.jointly)
        return self._of_all(thresholds), GroupThresholds(self.per, thresholds)

    def fallback(self, n: int, /) -> Threshold | None:
        """Rejecting everything, where that was asked for."""
        return fallback(n, self.risk, self.delta, self.when_impossible)


def fallback(n: int, risk: float, delta: float | None, when_impossible: WhenImpossible, /) -> Threshold | None:
    """The threshold that rejects all n rows, where that was asked for."""
    if when_impossible == "raise" or delta is None:
        return None
    return reject_all(n, risk=risk, delta=delta)


def group_names(per: Per, rows: ScoredRows, /) -> Any:
    """(n,) the group of each row."""
    return GroupThresholds(per, {}).names(rows.outputs, rows.fitted, rows.outputs.class_names)

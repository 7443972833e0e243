"""What is asked of a selector, checked, and the threshold that keeps it."""

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from abstain.names import check_name
from abstain.outputs import Outputs
from abstain.outputs.unlabelled import unlabelled
from abstain.scores.confidences import predictions
from abstain.scores.expected_cost import Costs, ExpectedCost
from abstain.scores.score import FittedScore, Score
from abstain.selector.calibration_data import largest_cluster
from abstain.selector.group_thresholds import GroupThresholds
from abstain.thresholds.labelled_above import labelled_above
from abstain.thresholds.methods import METHODS, Target, methods_for
from abstain.thresholds.per_group import of_all_groups
from abstain.thresholds.sample import check_chance, check_largest, one_per_cluster
from abstain.thresholds.target_risk import target_risk
from abstain.thresholds.threshold import Threshold

Per = Literal["class", "domain", "group"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options of `calibrate` that say what is to be kept."""

    risk: float | None
    coverage: float | None
    cost: Any
    costs: Any
    per: Per | None
    group_risk: float | None
    jointly: bool
    delta: float | None
    method: str | None
    largest_cluster: int | None = None
    label_above: float | None = None

    def __post_init__(self) -> None:
        named = [name for name in ("risk", "coverage", "cost") if getattr(self, name) is not None]
        if named not in (["risk"], ["coverage"], ["cost"], ["risk", "coverage"]):
            raise ValueError(
                "`risk`, `coverage` or `cost` must be given, or `risk` and `coverage` together, got "
                f"{' and '.join(named) or 'none'}."
            )
        if isinstance(self.cost, str):
            raise TypeError(f"`cost` must be a number, or one for each class, got {self.cost!r}.")
        if self.delta is None and named != ["coverage"]:
            raise ValueError("`delta` must be given for a target risk or a cost, got None.")
        if self.delta is not None:
            check_chance("delta", self.delta)
        if self.per is not None:
            check_name("per", self.per, get_args(Per), rule="be class or domain (also called group)")
        if self.per is not None and named != ["risk"]:
            raise ValueError(f"`per` must come with a `risk` alone, got {' and '.join(named)}.")
        if self.group_risk is not None and self.per is None:
            raise ValueError("`group_risk` must come with `per`, which says what the groups are, got no `per`.")
        if self.cost is None and self.costs is not None:
            raise ValueError("`costs` must come with `cost`, that of rejecting, got no `cost`.")
        if self.method is not None:
            check_name("method", self.method, methods_for(self.target))
        if self.largest_cluster is not None:
            self._check_largest(self.largest_cluster)
        if self.label_above is not None and self.label_above != self.label_above:
            raise ValueError("`label_above` must be a confidence, got NaN.")
        if self.label_above is not None and (self.target != "risk" or self.method is not None):
            raise ValueError("`label_above` must come with a `risk` alone and no `method`, got another target.")

    def _check_largest(self, largest: int) -> None:
        check_largest("largest_cluster", largest)
        if self.target not in ("risk", "risk per group") or self.method not in (None, "betting", "group_thresholds"):
            raise ValueError(
                "`largest_cluster` must come with a `risk` alone or per group, by the usual method or betting; the "
                "others take one row of each cluster, whatever its size."
            )

    def check_refuge(self, when_impossible: str) -> None:
        """Rejecting everything keeps a risk, but no coverage."""
        check_name("when_impossible", when_impossible, ("raise", "reject_all"), rule="be raise or reject_all")
        if when_impossible == "reject_all" and self.coverage is not None:
            raise ValueError("`when_impossible` must be raise with a `coverage`, which rejecting all does not keep.")

    @property
    def target(self) -> Target:
        """What is to be kept."""
        if self.cost is not None:
            return "cost"
        if self.coverage is not None:
            return "coverage" if self.risk is None else "risk and coverage"
        if self.per is None:
            return "risk"
        return "risk per group" if self.group_risk is None else "risk overall and per group"

    @property
    def weighs_answers(self) -> bool:
        """Whether the answers are the cheapest ones, not the classifier's own."""
        by_method = self.method is not None and METHODS[self.method].weighs_answers
        return self.cost is not None and (self.costs is not None or by_method or np.ndim(self.cost) > 0)

    def alpha(self) -> float:
        """Scores are chosen by the AURC up to this coverage."""
        if self.cost is not None:
            raise ValueError("`score` must be one name with a `cost`, got several.")
        return 1.0 if self.coverage is None else self.coverage

    def expected_cost(self, n_classes: int) -> Score:
        """The score of expected cost, with these costs."""
        if self.cost is None:
            raise ValueError("`cost` must be given for the score expected_cost, got none.")
        Costs.of(n_classes, rejection=self.cost, matrix=self.costs)
        return ExpectedCost(self.cost, self.costs)

    def threshold(
        self, fitted: FittedScore, rest: Outputs, confidence: NDArray[np.float64], seed: int
    ) -> tuple[Threshold, GroupThresholds | None]:
        """The threshold, and those of the groups where there are some."""
        known: dict[str, Any] = {"delta": self.delta, "ids": rest.ids, "seed": seed}
        rule = METHODS[self.method or methods_for(self.target)[0]].rule
        if self.target == "coverage":
            return _with_errors(rule(confidence, coverage=self.coverage, **known), rest, confidence, seed), None
        if self.target == "cost":
            return self._by_cost(rule, fitted, rest, confidence, known), None
        known["risk"] = self.risk
        errors = _errors(rest, fitted)
        if self.target == "risk and coverage":
            return rule(confidence, errors, coverage=self.coverage, **known), None
        if self.largest_cluster is not None:
            known["largest"] = self._largest_of(rest)
        if self.label_above is not None:
            return labelled_above(confidence, errors, floor=self.label_above, **known), None
        if self.per is None:
            by_rows = target_risk if self.method is None else rule
            return by_rows(confidence, errors, **known), None
        names = GroupThresholds(self.per, {}).names(rest, lambda: predictions(rest, fitted), rest.class_names)
        if self.group_risk is not None:
            return rule(confidence, errors, names, group_risk=self.group_risk, **known), None
        found = rule(confidence, errors, names, jointly=self.jointly, **known)
        largest = None if rest.ids is None else self.largest_cluster or largest_cluster(rest)
        given = {"risk": known["risk"], "delta": known["delta"], "jointly": self.jointly}
        return of_all_groups(found, **given, largest=largest), GroupThresholds(self.per, found)

    def _largest_of(self, rest: Outputs) -> int | None:
        """The rows that a cluster may have, as many as one has at least."""
        if rest.ids is None:
            raise ValueError(
                f"`largest_cluster` must come with ids, which say what a cluster is, got {self.largest_cluster} for "
                "outputs without."
            )
        if self.largest_cluster is not None and self.largest_cluster < (seen := largest_cluster(rest)):
            raise ValueError(
                f"`largest_cluster` must be at least what the outputs have, {seen} rows with one id, got "
                f"{self.largest_cluster}."
            )
        return self.largest_cluster

    def _by_cost(
        self, rule: Any, fitted: FittedScore, rest: Outputs, confidence: NDArray[np.float64], known: dict[str, Any]
    ) -> Threshold:
        if self.weighs_answers:
            if rest.labels is None:
                raise unlabelled("outputs")
            costs = Costs.of(rest.n_classes, rejection=self.cost, matrix=self.costs)
            accepting, rejecting = costs.paid(predictions(rest, fitted), rest.labels)
            known["largest"] = costs.largest
        else:
            rejection = float(np.asarray(self.cost))
            accepting, rejecting = rest.errors.astype(np.float64), np.full(len(rest), rejection)
            known["largest"] = max(1.0, rejection)
        found: Threshold = rule(confidence, accepting, rejection=rejecting, **known)
        return found


def _with_errors(threshold: Threshold, rest: Outputs, confidence: NDArray[np.float64], seed: int) -> Threshold:
    """The errors among the rows accepted, where labels tell; they do not decide."""
    if not rest.is_labelled:
        return threshold
    rows = one_per_cluster(confidence, np.zeros(len(rest)), ids=rest.ids, seed=seed)
    return replace(threshold, errors=float(np.count_nonzero(rest.errors[rows] & threshold.accepts(confidence[rows]))))


def _errors(rest: Outputs, fitted: FittedScore) -> NDArray[np.bool_]:
    """(n,) where the answer that is accepted or not is wrong, which a score may have changed."""
    if rest.labels is None or not fitted.changes_predictions:
        return rest.errors
    return np.asarray(predictions(rest, fitted) != rest.labels) | ~rest.usable

"""`calibrate`: outputs like those to come, a target, and the selector that keeps it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.names import check_name
from abstain.outputs import Outputs
from abstain.outputs.expected import expect_outputs
from abstain.scores.calibration_draw import split_to_fit
from abstain.scores.expected_cost import Costs, ExpectedCost, FittedExpectedCost
from abstain.scores.given import given_score
from abstain.scores.registry import EXPECTED_COST, SCORES, check_score
from abstain.scores.score import Confidence, Score
from abstain.selector.choice import best_score, candidates, low_risk_at, wide_at
from abstain.selector.selector import Groups, Selector
from abstain.thresholds import (
    NoSafeThresholdError,
    Threshold,
    betting,
    bonferroni,
    group_thresholds,
    joint_risk,
    minimal_cost,
    risk_and_coverage,
    sgr,
    step_down,
    target_coverage,
    target_risk,
)
from abstain.thresholds.groups import of_all_groups
from abstain.thresholds.reject_all import reject_all
from abstain.thresholds.sample import one_per_cluster
from abstain.thresholds.score_distribution import ScoreDistribution

LABELLED_SHARE = 0.2
COST_METHODS = ("minimal_cost", "chow")
RISK_METHODS: dict[str, Callable[..., Threshold]] = {
    "step_down": step_down,
    "betting": betting,
    "sgr": sgr,
    "bonferroni": bonferroni,
}
Per = Literal["class", "domain"]


def calibrate(
    outputs: Outputs,
    /,
    *,
    score: str | tuple[str, ...] | list[str] | None = None,
    risk: float | None = None,
    coverage: float | None = None,
    cost: float | ArrayLike | None = None,
    costs: ArrayLike | None = None,
    per: Per | None = None,
    group_risk: float | None = None,
    jointly: bool = True,
    delta: float | None = 0.05,
    method: str | None = None,
    when_impossible: Literal["raise", "reject_all"] = "raise",
    seed: int = 0,
) -> Selector:
    """A selector for a target selective risk, coverage, or ``cost`` of rejecting, from outputs like those to come.

    What it promises is in ``selector.threshold.promise`` and, in words, in ``selector.summary()``. A ``risk`` alone, or
    per group, is that of rows: by `step_down` where every row is independent and by `betting` where rows with the same
    ids form clusters. Other targets take one row of each cluster, and say so. ``delta=None`` asks for a coverage in
    expectation only. A ``risk`` and a ``coverage`` are kept together, or the error says which pairs can be.

    ``per="class"`` gives each predicted class a threshold of its own, ``per="domain"`` each domain: all hold together
    with probability 1 − δ, or each for itself with ``jointly=False``, and one that cannot be certified is always
    rejected. With a ``group_risk`` there is one threshold, with at most ``risk`` overall and ``group_risk`` in each.

    ``score`` is a name, several of which the best is taken, or ``"best"`` of all that the outputs allow: it is chosen
    on a fifth of the rows, and the threshold sees only the others. A score that needs fitting gets rows of its own,
    drawn at random until five per class are in-distribution, or a fifth of all if it learns from labels, at most half.
    Rows that are not usable count as errors that are never accepted. Where no threshold keeps a risk, that is an error,
    or with ``when_impossible="reject_all"`` a selector that accepts nothing.

    An error costs 1 and ``cost`` is that of rejecting, one number or one for each true class; ``costs[ŷ, y]`` are other
    costs of predicting ŷ where y is true. The method ``minimal_cost`` chooses the threshold on the sample, ``chow``
    trusts probabilities, temperature-scaled on rows of every kind; both bound the expected cost.

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(3, size=3000)
    >>> outputs = Outputs(logits=rng.normal(size=(3000, 3)) + 3 * np.eye(3)[labels], labels=labels)
    >>> selector = calibrate(outputs, risk=0.02, delta=0.1)
    >>> bool(outputs.errors[selector.accepts(outputs)].mean() < 0.02)
    True
    """
    expect_outputs(outputs)
    target = _Target.of(risk, coverage, cost, costs, per, group_risk, jointly, delta, method)
    target.check_refuge(when_impossible)
    names = candidates(score, outputs)
    chosen: tuple[str, ...] = ()
    if names is not None:
        objective = target.objective()
        score, outputs, chosen = best_score(names, outputs, objective, seed=seed)
    entry = _entry(score, outputs, target)
    if objection := entry.objection(outputs):
        raise ValueError(f"`outputs` must have what {entry.name} needs, got {objection}.")
    fitting, rest = outputs, outputs
    if entry.is_fitted:
        share = LABELLED_SHARE if "labels" in entry.needs else 0.0
        by_cost = entry.name == EXPECTED_COST.name  # whose probabilities must be those of deployment
        fitting, rest = split_to_fit(outputs, seed=seed, share=share, shifted_too=by_cost)
    fitted = entry.fit(fitting)
    confidence = accountable(fitted(rest))
    try:
        threshold, groups = target.threshold(fitted, rest, confidence, seed)
    except NoSafeThresholdError:
        if when_impossible == "raise" or risk is None or delta is None:
            raise
        threshold, groups = reject_all(len(rest), risk=risk, delta=delta), None
    if chosen:
        note = f"the score was chosen among {len(chosen)} on other rows, which costs the promise nothing"
        threshold = replace(threshold, promise=threshold.promise.noting(note))
    independent = confidence[one_per_cluster(confidence, np.zeros(len(rest)), ids=rest.ids, seed=seed)]
    distribution = ScoreDistribution.of(independent, seed=seed)
    return Selector(entry.name, fitted, threshold, outputs.n_classes, distribution, groups, outputs.class_names)


def accountable(confidence: NDArray[np.float64], /) -> NDArray[np.float64]:
    """Confidence with rows that are not usable below any threshold."""
    return np.nan_to_num(confidence, nan=-np.inf, posinf=np.inf, neginf=-np.inf)


@dataclass(frozen=True)
class _Target:
    """What is asked for, checked."""

    risk: float | None
    coverage: float | None
    cost: Any
    costs: Any
    per: Per | None
    group_risk: float | None
    jointly: bool
    delta: float | None
    method: str | None

    @classmethod
    def of(cls, *options: Any) -> "_Target":
        self = cls(*options)
        asked = [name for name in ("risk", "coverage", "cost") if getattr(self, name) is not None]
        if asked not in (["risk"], ["coverage"], ["cost"], ["risk", "coverage"]):
            raise ValueError(
                "`risk`, `coverage` or `cost` must be given, or `risk` and `coverage` together, got "
                f"{' and '.join(asked) or 'none'}."
            )
        if isinstance(self.cost, str):
            raise TypeError(f"`cost` must be a number, or one for each class, got {self.cost!r}.")
        if self.delta is None and asked != ["coverage"]:
            raise ValueError("`delta` must be given for a target risk or a cost, got None.")
        if self.per is not None:
            check_name("per", self.per, get_args(Per), rule="be class or domain")
        if self.per is not None and asked != ["risk"]:
            raise ValueError(f"`per` must come with a `risk` alone, got {' and '.join(asked)}.")
        if self.group_risk is not None and self.per is None:
            raise ValueError("`group_risk` must come with `per`, which says what the groups are, got no `per`.")
        if self.cost is None and self.costs is not None:
            raise ValueError("`costs` must come with `cost`, that of rejecting, got no `cost`.")
        if self.method is not None:
            check_name("method", self.method, self._methods(asked))
        return self

    def _methods(self, asked: list[str]) -> tuple[str, ...]:
        if asked == ["risk", "coverage"]:
            return ("risk_and_coverage",)
        if self.per is not None:
            return ("group_thresholds",) if self.group_risk is None else ("joint_risk",)
        return {"risk": tuple(RISK_METHODS), "coverage": ("target_coverage",), "cost": COST_METHODS}[asked[0]]

    def check_refuge(self, when_impossible: str) -> None:
        """Rejecting everything keeps a risk, but no coverage."""
        check_name("when_impossible", when_impossible, ("raise", "reject_all"), rule="be raise or reject_all")
        if when_impossible == "reject_all" and self.coverage is not None:
            raise ValueError("`when_impossible` must be raise with a `coverage`, which rejecting all does not keep.")

    @property
    def weighs_predictions(self) -> bool:
        """Whether predictions are made by cost, not by the classifier."""
        return self.cost is not None and (self.costs is not None or self.method == "chow" or np.ndim(self.cost) > 0)

    def objective(self) -> Callable[[NDArray[np.float64], NDArray[np.bool_]], float]:
        """What a score is chosen by, higher = better, from confidence and errors."""
        if self.cost is not None:
            raise ValueError("`score` must be one name with a `cost`, got several.")
        return low_risk_at(self.coverage) if self.coverage is not None else wide_at(self.risk or 0.0)

    def threshold(
        self, fitted: Confidence, rest: Outputs, confidence: NDArray[np.float64], seed: int
    ) -> tuple[Threshold, Groups | None]:
        """The threshold, and those of the groups where there are some."""
        known: dict[str, Any] = {"delta": self.delta, "ids": rest.ids, "seed": seed}
        if self.risk is None and self.coverage is not None:
            return target_coverage(confidence, coverage=self.coverage, **known), None
        if self.cost is not None:
            return self._by_cost(fitted, rest, confidence, known), None
        known["risk"] = self.risk
        if self.coverage is not None:
            return risk_and_coverage(confidence, rest.errors, coverage=self.coverage, **known), None
        if self.per is None:
            rule = target_risk if self.method is None else RISK_METHODS[self.method]
            return rule(confidence, rest.errors, **known), None
        names = Groups(self.per, {}).names(rest, rest.predictions if self.per == "class" else np.empty(0, dtype=int))
        if self.group_risk is not None:
            return joint_risk(confidence, rest.errors, names, group_risk=self.group_risk, **known), None
        found = group_thresholds(confidence, rest.errors, names, jointly=self.jointly, **known)
        overall = of_all_groups(found, risk=known["risk"], delta=known["delta"], jointly=self.jointly)
        return overall, Groups(self.per, found)

    def _by_cost(
        self, fitted: Confidence, rest: Outputs, confidence: NDArray[np.float64], known: dict[str, Any]
    ) -> Threshold:
        if isinstance(fitted, FittedExpectedCost):
            if rest.labels is None:
                raise ValueError("`outputs` must have labels, got none.")
            accepting, rejecting = fitted.costs.paid(fitted.predictions(rest), rest.labels)
            largest = fitted.costs.largest
        else:
            rejection = float(np.asarray(self.cost))
            accepting, rejecting = rest.errors.astype(np.float64), np.full(len(rest), rejection)
            largest = max(1.0, rejection)
        if self.method != "chow":
            return minimal_cost(confidence, accepting, rejection=rejecting, largest=largest, **known)
        found = minimal_cost(confidence, accepting, rejection=rejecting, threshold=0.0, largest=largest, **known)
        return replace(found, method="chow")


def _entry(name: str | tuple[str, ...] | list[str] | None, outputs: Outputs, target: _Target) -> Score:
    """The score asked for; that of expected cost where predicting by cost is."""
    if not target.weighs_predictions and name != EXPECTED_COST.name:
        default = outputs.given_names[0] if outputs.given_names and not outputs.n_classes else "confidence_margin"
        name = str(name or default)
        if name in outputs.given_names:
            return given_score(name)
        check_score("score", name, given=outputs.given_names)
        return SCORES[name]
    if name not in (None, EXPECTED_COST.name):
        raise ValueError(f"`score` must be left out where predictions are weighed by costs, got {name!r}.")
    if target.cost is None:
        raise ValueError("`cost` must be given for the score expected_cost, got none.")
    Costs.of(outputs.n_classes, rejection=target.cost, matrix=target.costs)
    return replace(EXPECTED_COST, method=ExpectedCost(target.cost, target.costs))

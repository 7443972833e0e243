"""The cost of a row under a cascade and under its alternatives at the same risk, and how often each breaks this.

Two models on the same rows are the population: digits of the demo with a forest as the small model, or two folders of
outputs. Rows drawn from it calibrate every rule, the others judge it. scikit-fallback's cascade chooses thresholds by
cross-validation for an accuracy of 1 − risk; it always answers, and guarantees nothing.

Usage: python benchmarks/cascades.py [SMALL LARGE RISK N]; without arguments the digits.
"""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from abstain import Outputs, cascade
from abstain.datasets import digits
from abstain.scores import confidence_margin
from abstain.thresholds import NoSafeThresholdError, step_down

RUNS, DELTA, COSTS, HUMAN = 40, 0.1, (1.0, 20.0), 200.0
Pair = list[Outputs]
Rule = Callable[[Pair, float], Callable[[Pair], tuple[Any, Any]]]
"""Calibration rows and the risk -> a function of rows: (n,) the last stage that runs, and whether it answers."""


def digits_pair() -> Pair:
    """A forest and the network of the demo on digits that neither has seen."""
    images, truth = load_digits(return_X_y=True)
    outputs = digits()
    rows = outputs[outputs.shift == "none"]
    others = np.setdiff1d(np.flatnonzero(truth < rows.n_classes), rows.ids)
    forest = RandomForestClassifier(20, max_depth=6, random_state=0).fit(images[others], truth[others])
    small = Outputs(probabilities=forest.predict_proba(images[rows.ids]), labels=rows.labels)
    return [small, Outputs(logits=rows.logits, labels=rows.labels)]


def compare(pair: Pair, /, *, risk: float, n: int) -> None:
    """Mean cost of a row, its standard error over the runs, and how many runs have a risk above the target."""
    results: dict[str, list[tuple[float, bool]]] = {name: [] for name in RULES}
    for run in range(RUNS):
        order = np.random.default_rng([run, 30]).permutation(len(pair[0]))
        known, fresh = ([each.select(rows) for each in pair] for rows in (order[:n], order[n:]))
        for name, rule in RULES.items():
            stage, answered = rule(known, risk)(fresh)
            errors = np.column_stack([each.errors for each in fresh])[np.arange(len(stage)), stage]
            cost = COSTS[ALONE[name]] if name in ALONE else float(np.cumsum(COSTS)[stage].mean())
            cost += HUMAN * float(np.mean(~answered))
            results[name].append((cost, bool(answered.any() and errors[answered].mean() > risk)))
    for name, values in results.items():
        costs, breaks = np.array([cost for cost, _ in values]), np.mean([broken for _, broken in values])
        error = costs.std(ddof=1) / len(costs) ** 0.5
        print(f"{name:44} cost {costs.mean():7.2f} ± {error:.2f}  above the risk in {breaks:.2f} of runs", flush=True)


def _value(outputs: Outputs, risk: float, delta: float) -> float:
    try:
        return step_down(confidence_margin(outputs.logits), outputs.errors, risk=risk, delta=delta).value
    except NoSafeThresholdError:
        return np.inf


def _above(outputs: Outputs, value: float) -> Any:
    return confidence_margin(outputs.logits) > value


def _ours(known: Pair, risk: float) -> Any:
    try:
        made = cascade(known, risk=risk, delta=DELTA, costs=COSTS, human_cost=HUMAN)
    except NoSafeThresholdError:
        return lambda rows: (np.zeros(len(rows[0]), dtype=int), np.zeros(len(rows[0]), dtype=bool))

    def decide(rows: Pair) -> tuple[Any, Any]:
        combined = made.combined(rows)
        return made.numbers_of(combined), made.selector.accepts(combined)

    return decide


def _alone(stage: int) -> Rule:
    def rule(known: Pair, risk: float) -> Any:
        value = _value(known[stage], risk, DELTA)
        return lambda rows: (np.full(len(rows[0]), stage), _above(rows[stage], value))

    return rule


def _in_turn(values: tuple[float, float]) -> Any:
    def decide(rows: Pair) -> tuple[Any, Any]:
        first = _above(rows[0], values[0])
        return np.where(first, 0, 1), first | _above(rows[1], values[1])

    return decide


def _each_by_itself(known: Pair, risk: float) -> Any:
    return _in_turn((_value(known[0], risk, DELTA / 2), _value(known[1], risk, DELTA / 2)))


def _each_on_its_rows(known: Pair, risk: float) -> Any:
    half = len(known[0]) // 2
    first = _value(known[0][:half], risk, DELTA / 2)
    reaches = np.flatnonzero(~_above(known[0][half:], first))
    last = _value(known[1][half:].select(reaches), risk, DELTA / 2) if len(reaches) else np.inf
    return _in_turn((first, last))


class _Columns(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A model whose logits are some columns of the data."""

    def __init__(self, first: int = 0, classes: int = 2) -> None:
        self.first, self.classes = first, classes

    def fit(self, X: Any, y: Any) -> "_Columns":  # noqa: ARG002
        self.classes_ = np.arange(self.classes)
        return self

    def predict_proba(self, X: Any) -> Any:
        return softmax(np.asarray(X)[:, self.first : self.first + self.classes], axis=1)

    def predict(self, X: Any) -> Any:
        return self.predict_proba(X).argmax(axis=1)


def _scikit_fallback(known: Pair, risk: float) -> Any:
    from skfb.ensemble import ThresholdCascadeClassifierCV

    k = known[0].n_classes
    models = [_Columns(0, k), _Columns(k, k)]
    chosen = ThresholdCascadeClassifierCV(models, costs=list(COSTS), cv_thresholds=20, min_score=1 - risk, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen.fit(np.column_stack([each.logits for each in known]), known[0].labels)
    value = float(np.ravel(chosen.best_thresholds_)[0])

    def decide(rows: Pair) -> tuple[Any, Any]:
        first = softmax(rows[0].logits, axis=1).max(axis=1) >= value
        return np.where(first, 0, 1), np.ones(len(first), dtype=bool)

    return decide


RULES: dict[str, Rule] = {
    "cascade": _ours,
    "small alone": _alone(0),
    "large alone": _alone(1),
    "each calibrated by itself, δ/2": _each_by_itself,
    "each on the rows that reach it, δ/2": _each_on_its_rows,
    "scikit-fallback, accuracy at least 1 − risk": _scikit_fallback,
}
ALONE = {"small alone": 0, "large alone": 1}


def cascades() -> bool:
    """The digits, at a risk of 0.02."""
    compare(digits_pair(), risk=0.02, n=600)
    return True


if __name__ == "__main__":
    if len(sys.argv) == 1:
        cascades()
    else:
        folders = [Outputs.load(folder) for folder in sys.argv[1:3]]
        clean = [
            Outputs(logits=rows.logits, labels=rows.labels) for rows in (each[each.shift == "none"] for each in folders)
        ]
        compare(clean, risk=float(sys.argv[3]), n=int(sys.argv[4]))

"""The guarantee of a selective risk beside MAPIE's, and beside what prediction sets of one class turn out to hold.

The outputs of the demo are the whole population, calibration rows are drawn from it with replacement, so that the risk
and the coverage of every threshold are known exactly. MAPIE's controller is told "precision" of being right, which is
one minus the selective risk, for the probability of the predicted class.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from abstain.datasets import digits
from abstain.scores import max_softmax
from abstain.thresholds import NoSafeThresholdError, empirical_without_guarantee, step_down

RUNS, DELTA = 1000, 0.1
CASES = (
    ("all shifts", 500, 0.10),
    ("all shifts", 2000, 0.10),
    ("all shifts", 500, 0.05),
    ("all shifts", 2000, 0.05),
    ("no shift", 1000, 0.01),
)
Rule = Callable[..., float | None]  # probability, errors, risk -> the lowest probability accepted


def peers() -> bool:
    """1,000 calibrations of each rule: how many break the target, mean coverage, how many guarantee nothing."""
    outputs = digits()
    kept = True
    for where, n, risk in CASES:
        population = outputs if where == "all shifts" else outputs[outputs.shift == "none"]
        probability, errors = expit(max_softmax(population.logits)), population.errors.astype(float)
        best = _oracle(probability, errors, risk)
        print(f"{where}: risk {risk:g} with probability {1 - DELTA:g}, n = {n}; oracle {best:.3f}")
        for name, rule in RULES.items():
            outcomes = np.array([*_runs(rule, probability, errors, n, risk)])
            broken, coverage, nothing = outcomes.mean(axis=0)
            print(
                f"  {name:40} breaks {broken:.3f}  coverage {coverage:.3f}  guarantees nothing {nothing:.3f}",
                flush=True,
            )
            kept &= "no guarantee" in name or broken <= DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / RUNS)
    _sets(outputs[outputs.labels >= 0])
    return kept


def _runs(rule: Rule, probability: Any, errors: Any, n: int, risk: float) -> Iterator[tuple[float, float, float]]:
    for run in range(RUNS):
        rows = np.random.default_rng([run, 5]).integers(len(errors), size=n)
        lowest = rule(probability[rows], errors[rows], risk)
        accepted = probability >= (np.inf if lowest is None else lowest)
        wrong = bool(accepted.any()) and errors[accepted].mean() > risk
        yield float(wrong), float(accepted.mean()), float(not accepted.any())


def _oracle(probability: Any, errors: Any, risk: float) -> float:
    return float(np.mean(probability > empirical_without_guarantee(probability, errors, risk=risk).value))


def _ours(probability: Any, errors: Any, risk: float) -> float | None:
    try:
        return float(np.nextafter(step_down(probability, errors, risk=risk, delta=DELTA).value, 2))
    except NoSafeThresholdError:
        return None


def _empirical(probability: Any, errors: Any, risk: float) -> float | None:
    return float(np.nextafter(empirical_without_guarantee(probability, errors, risk=risk).value, 2))


def _mapie(method: str, candidates: Any) -> Rule:
    def rule(probability: Any, errors: Any, risk: float) -> float | None:
        from mapie.risk_control import BinaryClassificationController

        controller = BinaryClassificationController(
            predict_function=lambda p: np.column_stack([1 - p, p]),
            risk="precision",
            target_level=1 - risk,
            confidence_level=1 - DELTA,
            list_predict_params=candidates,
            fwer_method=method,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that no candidate passes
            return controller.calibrate(probability, 1 - errors).best_predict_param

    return rule


class Given:
    """A scikit-learn classifier whose inputs are its probabilities."""

    def __init__(self, classes: int) -> None:
        self.classes_ = np.arange(classes)
        self.n_features_in_ = classes

    def fit(self, *_: Any) -> "Given":
        """Nothing to fit."""
        return self

    def predict_proba(self, x: Any) -> Any:
        """What was given."""
        return np.asarray(x)

    def predict(self, x: Any) -> Any:
        """The most probable class."""
        return np.asarray(x).argmax(axis=1)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _sets(known: Any) -> None:
    """Split conformal sets at 90% on the known classes: how often the label is in the set, and in the sets of one."""
    from mapie.classification import SplitConformalClassifier

    x, labels = softmax(known.logits, axis=1), known.labels
    results = []
    for run in range(RUNS // 5):
        rows = np.random.default_rng([run, 6]).integers(len(labels), size=1000)
        sets = SplitConformalClassifier(
            Given(known.n_classes), confidence_level=0.9, conformity_score="lac", prefit=True
        )
        held = sets.conformalize(x[rows], labels[rows]).predict_set(x)[1][:, :, 0]
        single = held.sum(axis=1) == 1
        inside = held[np.arange(len(labels)), labels]
        results.append((inside.mean(), single.mean(), 1 - inside[single].mean()))
    inside, single, wrong = np.mean(results, axis=0)
    print(
        f"conformal sets at 90%, known classes: label in set {inside:.3f}, of one {single:.3f}, these wrong {wrong:.3f}"
    )


RULES: dict[str, Rule] = {
    "step_down": _ours,
    "MAPIE, Holm, its 100 thresholds": _mapie("bonferroni_holm", np.linspace(0, 0.99, 100)),
    "MAPIE, fixed sequence from 0.99 down": _mapie("fixed_sequence", np.linspace(0.99, 0, 100)),
    "the risk seen in the sample, no guarantee": _empirical,
}

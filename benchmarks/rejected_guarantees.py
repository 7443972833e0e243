"""Guarantees about rejected rows and true classes over 2,000 calibrations, the rule's seed fixed and the data new.

Each line is followed by that of the usual rule, which takes the sample for the truth.
"""

from typing import Any

import numpy as np
from guarantees import DELTA, share_broken
from scipy.special import ndtr

from abstain import Outputs, calibrate
from abstain.selector import calibrate_sets
from abstain.selector.class_sets import log_probabilities
from abstain.thresholds import risk_and_miss_rate, target_miss_rate, target_review

REVIEW, RARE, RATE, RISK, COVERAGE, CLASSES = 0.3, 0.08, 0.05, 0.04, 0.8, 5
WEIGHTS, RATES = np.array([0.65, 0.15, 0.2]), np.array([0.02, 0.9, 0.3])
SHARP = 2.0  # mean log-odds of the rare class where it is true, in units of their spread
Rng = np.random.Generator


def rejected_guarantees() -> bool:
    """A share of rows to review, with a bound on the risk; miss rates, alone and with a risk; sets of classes."""
    cases = {
        "review 0.3, n = 250: too many rejected, or the risk above its bound": lambda rng: _review(rng, ours=True),
        "miss rate 0.05 of 80 rows of a class": lambda rng: _missed(rng, ours=True),
        "risk 0.04 and miss rate 0.05, n = 3,000: either": _both,
        "sets with coverage 0.8 among rejected rows, 800 held-out rows": lambda rng: _sets(rng, ours=True),
    }
    usual = {
        "review 0.3, the quantile and the risk of the sample (invalid)": lambda rng: _review(rng, ours=False),
        "miss rate 0.05, that of the sample (invalid)": lambda rng: _missed(rng, ours=False),
        "sets calibrated on all rows (invalid)": lambda rng: _sets(rng, ours=False),
    }
    kept = [share_broken(name, trial) for name, trial in cases.items()]
    for name, trial in usual.items():
        share_broken(name, trial)
    return all(kept)


def _review(rng: Rng, *, ours: bool) -> bool:
    """Errors are most frequent among the rows at the cut."""
    ends, u = np.cumsum(WEIGHTS), rng.random(250)
    confidence, wrong = 1 - u, rng.random(250) < RATES[np.searchsorted(ends, u, side="right")]
    if ours:
        threshold = target_review(confidence, wrong, review=REVIEW, delta=DELTA)
        value, bound = threshold.value, threshold.further[0].certified if threshold.further else 1.0
    else:
        value = float(np.quantile(confidence, REVIEW))
        bound = float(wrong[confidence > value].mean())
    cover = np.clip(1 - value - (ends - WEIGHTS), 0, WEIGHTS)
    return bool(1 - cover.sum() > REVIEW + 1e-9 or (cover * RATES).sum() / cover.sum() > bound + 1e-9)


def _binary(rng: Rng, n: int) -> tuple[Any, Any, Any]:
    """Confidences, answers and true classes: the log-odds are normal around ±SHARP."""
    labels = (rng.random(n) < RARE).astype(int)
    odds = rng.normal(np.where(labels == 1, SHARP, -SHARP), 1.5)
    return np.abs(odds), (odds > 0).astype(int), labels


def _miss_rate(value: float) -> float:
    """The true share of the rare class that is accepted with the other answer."""
    return float(ndtr((-max(value, 0.0) - SHARP) / 1.5))


def _missed(rng: Rng, *, ours: bool) -> bool:
    confidence, answers, labels = _binary(rng, 1000)
    if ours:
        value = target_miss_rate(confidence, answers, labels, miss_rate={1: RATE}, delta=DELTA)[0].value
    else:
        missed = np.sort(confidence[(labels == 1) & (answers == 0)])[::-1]
        allowed = int(RATE * np.count_nonzero(labels))
        value = missed[allowed] if len(missed) > allowed else -np.inf
    return _miss_rate(value) > RATE


def _both(rng: Rng) -> bool:
    value = risk_and_miss_rate(*_binary(rng, 3000), risk=RISK, miss_rate={1: RATE}, delta=DELTA).value
    right, wrong = float(ndtr((SHARP - max(value, 0.0)) / 1.5)), _miss_rate(value)  # of either class
    return wrong / (wrong + right) > RISK or wrong > RATE


def _hard(rng: Rng, n: int) -> Outputs:
    """Easy rows whose classes the logits show, and hard ones of which they show little, a tenth of them unknown."""
    labels, hard = rng.integers(0, CLASSES, n), rng.random(n) < 0.4
    logits = rng.normal(size=(n, CLASSES)) * np.where(hard, 2.0, 1.0)[:, None]
    logits[np.arange(n), labels] += np.where(hard, 1.5, 8.0)
    return Outputs(logits=logits, labels=np.where(hard & (rng.random(n) < 0.1), -1, labels))


SELECTOR = calibrate(_hard(np.random.default_rng([0, 32]), 2000), risk=RISK)
FRESH = _hard(np.random.default_rng([1, 32]), 60_000)
REJECTED = FRESH.select(np.flatnonzero(~SELECTOR.accepts(FRESH)))
SCORES = log_probabilities(REJECTED)


def _sets(rng: Rng, *, ours: bool) -> bool:
    held_out = _hard(rng, 800)
    if ours:
        sets = calibrate_sets(SELECTOR, held_out, coverage=COVERAGE, delta=DELTA).sets(REJECTED)
        return bool(_of_truth(sets, REJECTED.labels, False).mean() < COVERAGE)
    truth = _of_truth(log_probabilities(held_out), held_out.labels, -np.inf)
    return bool((_of_truth(SCORES, REJECTED.labels, -np.inf) > np.quantile(truth, 1 - COVERAGE)).mean() < COVERAGE)


def _of_truth(values: Any, labels: Any, unknown: float) -> Any:
    """The value of the true class of each row, or that of an unknown one."""
    return np.where(labels >= 0, values[np.arange(len(labels)), np.maximum(labels, 0)], unknown)

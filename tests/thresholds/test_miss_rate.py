"""Few rows of a true class are accepted with another answer: in simulation, the rule's seed fixed and the data new."""

from contextlib import suppress
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from abstain.thresholds import NoSafeThresholdError, Quantity, risk_and_miss_rate, step_down, target_miss_rate

DELTA, RATE, N, RUNS = 0.1, 0.1, 1500, 400
ALLOWED = DELTA + 3 * sqrt(DELTA * (1 - DELTA) / RUNS)


def smooth(u, y):
    return np.where(y == 1, 0.5 * u, 0.02 * u)


def at_the_cut(u, y):
    """The misses of class 1 are all of middling confidence, those of class 0 of high confidence."""
    return np.where(y == 1, 0.9 * ((u > 0.45) & (u < 0.6)), 0.1 * (u < 0.2))


def sample(rng, miss, *, tied=False, share=0.08, n=N):
    """Two classes, 8% of them class 1; u is the place of the confidence."""
    u, y = rng.random(n), (rng.random(n) < share).astype(int)
    wrong = rng.random(n) < miss(u, y)
    c = np.ceil(20 * (1 - u)) / 20 if tied else 1 - u
    return c, np.where(wrong, 1 - y, y), y


def true_rate(miss, value, k, *, tied=False):
    u = (np.arange(20_000) + 0.5) / 20_000
    c = np.ceil(20 * (1 - u)) / 20 if tied else 1 - u
    return (miss(u, np.full(len(u), k)) * (c > value)).mean()


def naive(c, predictions, labels):
    """The lowest threshold at which the rate of the sample is small enough."""
    inside = labels == 1
    missed = np.sort(c[inside & (predictions == 0)])[::-1]
    allowed = int(RATE * np.count_nonzero(inside))
    return missed[allowed] if len(missed) > allowed else -np.inf


@pytest.mark.parametrize("tied", [False, True], ids=["continuous", "20 values"])
@pytest.mark.parametrize("miss", [smooth, at_the_cut])
def test_the_miss_rate_is_kept_and_the_rate_of_the_sample_is_not(miss, tied):
    broken = {"ours": 0, "naive": 0}
    for run in range(RUNS):
        rows = sample(np.random.default_rng([run, 3]), miss, tied=tied)
        value = target_miss_rate(*rows, miss_rate={1: RATE}, delta=DELTA)[0].value
        broken["ours"] += true_rate(miss, value, 1, tied=tied) > RATE
        broken["naive"] += true_rate(miss, naive(*rows), 1, tied=tied) > RATE
    assert broken["ours"] / RUNS <= ALLOWED
    assert broken["naive"] / RUNS > (DELTA if tied else 2 * DELTA)  # ties leave it some room


def test_two_rates_and_a_risk_hold_together():
    rates, broken, made, alone = {0: 0.004, 1: RATE}, 0, 0, 0
    for run in range(150):
        rows = sample(np.random.default_rng([run, 4]), smooth, n=3000)
        c, predictions, labels = rows
        for joint in (True, False):
            with suppress(NoSafeThresholdError):
                if joint:
                    value = risk_and_miss_rate(*rows, risk=0.04, miss_rate={1: RATE}, delta=DELTA).value
                    made += 1
                else:
                    value = step_down(c, predictions != labels, risk=0.04, delta=DELTA).value
                u = (np.arange(20_000) + 0.5) / 20_000
                kept = 1 - u > value
                rate = 0.92 * smooth(u, np.zeros(len(u))) + 0.08 * smooth(u, np.ones(len(u)))
                fails = rate[kept].mean() > 0.04 or true_rate(smooth, value, 1) > RATE
                broken, alone = (broken + fails, alone) if joint else (broken, alone + fails)
        thresholds = target_miss_rate(*rows, miss_rate=rates, delta=DELTA)
        assert {each.quantity for each in (thresholds[0].guarantee, *thresholds[0].further)} == {Quantity.MISS_RATE}
    assert broken / 150 <= DELTA + 3 * sqrt(DELTA * (1 - DELTA) / 150)
    assert made > 75
    assert alone > 75  # a risk alone does not keep the rate


@given(st.integers(30, 200), st.integers(0, 2**32 - 1))
def test_it_allows_as_many_misses_as_the_binomial_test(n, seed):
    """Brute force: the largest number of misses with P(Bin(n, rate) <= misses) <= delta."""
    rng = np.random.default_rng(seed)
    c, wrong = rng.random(n), rng.random(n) < 0.7
    allowed = int(np.count_nonzero(binom.cdf(np.arange(n + 1), n, RATE) <= DELTA)) - 1
    rows = c, np.where(wrong, 0, 1), np.ones(n, dtype=int)
    value = target_miss_rate(*rows, miss_rate={1: RATE}, delta=DELTA)[0].value
    assert np.count_nonzero(wrong & (c > value)) == min(allowed, np.count_nonzero(wrong))
    assert (target_miss_rate(*rows, miss_rate={1: RATE}, delta=DELTA)[1].value) == -np.inf


def test_an_answer_is_limited_by_the_other_classes_alone():
    rng = np.random.default_rng(0)
    c, labels = rng.random(3000), rng.integers(0, 3, 3000)
    predictions = np.where(rng.random(3000) < 0.3, (labels + 1) % 3, labels)
    values = {k: target_miss_rate(c, predictions, labels, miss_rate={k: RATE}, delta=DELTA / 2) for k in (0, 1)}
    both = target_miss_rate(c, predictions, labels, miss_rate={0: RATE, 1: RATE}, delta=DELTA)
    assert both[0].value == values[1][0].value
    assert both[1].value == values[0][1].value
    assert both[2].value == max(values[0][2].value, values[1][2].value)


def test_unknown_classes_are_errors_of_the_risk_and_no_class_that_is_missed():
    rng = np.random.default_rng(0)
    c, y = rng.random(1000), np.where(rng.random(1000) < 0.1, -1, 1)
    assert target_miss_rate(c, np.ones(1000, dtype=int), y, miss_rate={1: RATE})[1].value == -np.inf
    with pytest.raises(NoSafeThresholdError, match=r"Risk <= 0\.01 and the miss rates cannot be certified together"):
        risk_and_miss_rate(c, np.ones(1000, dtype=int), y, risk=0.01, miss_rate={1: RATE})


def test_too_few_rows_of_a_class_say_how_many_it_takes():
    y = np.arange(1000) < 20
    with pytest.raises(NoSafeThresholdError, match=r"on 20 rows of it. Label at least 59 rows of that class"):
        target_miss_rate(np.arange(1000.0), 0 * y, y.astype(int), miss_rate={1: 0.05})


def test_an_error_and_the_guarantees_name_the_class():
    names = np.array(["ok", "fraud"])
    c, predictions, labels = sample(np.random.default_rng(0), smooth)
    rows = c, names[predictions], names[labels]
    with pytest.raises(NoSafeThresholdError, match=r"miss rate of class fraud at 0\.01 on"):
        target_miss_rate(*rows, miss_rate={"fraud": 0.01})
    assert target_miss_rate(*rows, miss_rate={"fraud": 0.2})["ok"].guarantee.groups == ("fraud",)
    assert risk_and_miss_rate(*rows, risk=0.5, miss_rate={"fraud": 0.2}).further[0].groups == ("fraud",)

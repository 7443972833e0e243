from math import exp, inf, sqrt

import numpy as np
import pytest

from abstain.monitor import AcceptanceMonitor, RiskMonitor, ScoreMonitor, fisher_p
from abstain.monitor.risk import log_evidence


@pytest.mark.parametrize(
    ("errors", "n", "expected"),
    [(12, 100, 3.703196471), (5, 100, 0.03514203724), (20, 200, 3.476177573), (0, 50, 0.01960784314)],
)
def test_evidence_vectors(errors, n, expected):
    assert exp(log_evidence(errors, n, 0.05)) == pytest.approx(expected, rel=1e-8)


def test_interval_vectors():
    monitor = RiskMonitor(risk=0.05, delta=0.05)
    assert monitor.update(errors=12, n=100).interval() == pytest.approx((0.0400962894, 0.2535350456), rel=1e-6)
    assert monitor.update(errors=0, n=100).interval() == pytest.approx((0, 0.0732843734), rel=1e-6)
    assert monitor.interval() == (0.0, 1.0)


def first_alarm(rng, rate, steps, risk=0.05, delta=0.05):
    errors = np.cumsum(rng.random(steps) < rate)
    monitor = RiskMonitor(risk=risk, delta=delta)
    for step in range(1, steps + 1):
        if log_evidence(int(errors[step - 1]), step, risk) >= np.log(1 / delta):
            return step
    assert not monitor.alarm
    return None


def test_false_alarms_are_rare_over_all_steps_where_repeated_tests_are_not():
    from scipy.stats import binom

    rng = np.random.default_rng(0)
    false = naive = 0
    for _ in range(150):
        errors = np.cumsum(rng.random(5000) < 0.05)
        looks = range(50, 5001, 10)
        false += any(log_evidence(int(errors[t - 1]), t, 0.05) >= np.log(20) for t in looks)
        naive += any(binom.sf(int(errors[t - 1]) - 1, t, 0.05) <= 0.05 for t in looks)
    assert false / 150 <= 0.05 + 3 * sqrt(0.05 * 0.95 / 150)
    assert naive / 150 > 0.2


def test_a_risk_three_times_too_high_is_found_soon():
    rng = np.random.default_rng(1)
    delays = [first_alarm(rng, 0.15, 2000) for _ in range(40)]
    assert None not in delays
    assert np.median(delays) < 120


def test_the_confidence_sequence_holds_at_all_times():
    rng, missed = np.random.default_rng(2), 0
    for _ in range(100):
        monitor = RiskMonitor(risk=0.05, delta=0.1)
        for _ in range(20):
            monitor = monitor.update(errors=int(rng.binomial(50, 0.08)), n=50)
            low, high = monitor.interval()
            if not low <= 0.08 <= high:
                missed += 1
                break
    assert missed / 100 <= 0.1 + 3 * sqrt(0.09 / 100)


def test_an_alarm_stays():
    monitor = RiskMonitor(risk=0.05, delta=0.05).update(errors=30, n=60)
    assert monitor.alarm
    assert monitor.update(errors=0, n=5000).alarm


def test_the_state_is_saved_and_resumed():
    monitor = RiskMonitor(risk=0.05, delta=0.05).update(errors=3, n=70)
    assert RiskMonitor.from_json(monitor.to_json()) == monitor
    fresh = RiskMonitor(risk=0.05, delta=0.05)
    assert RiskMonitor.from_json(fresh.to_json()) == fresh
    acceptance = AcceptanceMonitor.from_calibration(accepted=8, n=10).update(accepted=3, n=4)
    assert AcceptanceMonitor.from_json(acceptance.to_json()) == acceptance
    with pytest.raises(ValueError, match="state of an AcceptanceMonitor"):
        AcceptanceMonitor.from_json(monitor.to_json())
    for text in ("", "{}", "[]", '{"risk": 2}'):
        with pytest.raises(ValueError, match="state of a RiskMonitor"):
            RiskMonitor.from_json(text)


def test_bad_counts_are_named():
    with pytest.raises(ValueError, match="`errors` must be between 0 and `n`, got 3 of 2"):
        RiskMonitor(risk=0.05, delta=0.05).update(errors=3, n=2)
    with pytest.raises(ValueError, match="`risk` and `delta` must be between 0 and 1"):
        RiskMonitor(risk=0, delta=0.05)
    with pytest.raises(ValueError, match="`accepted` must be between 0 and `n`"):
        AcceptanceMonitor.from_calibration(accepted=5, n=10).update(accepted=3, n=2)


def test_acceptance_leaves_its_range_in_both_directions():
    monitor = AcceptanceMonitor.from_calibration(accepted=800, n=1000)
    assert not monitor.update(accepted=790, n=1000).alarm
    assert monitor.update(accepted=600, n=1000).alarm
    assert monitor.update(accepted=950, n=1000).alarm


def test_acceptance_false_alarms_are_rare():
    rng, false = np.random.default_rng(3), 0
    for _ in range(200):
        monitor = AcceptanceMonitor.from_calibration(accepted=int(rng.binomial(500, 0.7)), n=500)
        for _ in range(40):
            monitor = monitor.update(accepted=int(rng.binomial(50, 0.7)), n=50)
        false += monitor.alarm
    assert false / 200 <= 0.05


def test_everything_accepted_in_calibration_can_only_fall():
    monitor = AcceptanceMonitor.from_calibration(accepted=50, n=50)
    assert monitor.high == 1
    assert monitor.update(accepted=50, n=50).highest < inf


def test_fisher_agrees_with_scipy():
    from scipy.stats import fisher_exact

    assert fisher_p(800, 1000, 720, 1000) == pytest.approx(3.4258e-05, rel=1e-4)
    rng = np.random.default_rng(0)
    for _ in range(50):
        n, m = rng.integers(1, 60, size=2)
        a, b = rng.integers(n + 1), rng.integers(m + 1)
        expected = fisher_exact([[a, n - a], [b, m - b]]).pvalue
        assert fisher_p(int(a), int(n), int(b), int(m)) == pytest.approx(expected, rel=1e-7)


def test_scores_that_do_not_change_raise_few_alarms():
    rng = np.random.default_rng(4)
    alarms = sum(ScoreMonitor(delta=0.1, seed=k).update(np.round(rng.normal(size=300), 1)).alarm for k in range(100))
    assert alarms / 100 <= 0.1 + 3 * sqrt(0.09 / 100)


@pytest.mark.parametrize("shift", [-1.5, 1.5])
def test_scores_that_fall_or_rise_are_noticed(shift):
    rng = np.random.default_rng(5)
    monitor = ScoreMonitor(delta=0.05).update(rng.normal(size=300))
    assert not monitor.alarm
    assert monitor.update(rng.normal(size=300) + shift).alarm


def test_scores_must_be_numbers():
    with pytest.raises(ValueError, match="`confidence` must not be NaN"):
        ScoreMonitor().update([np.nan])

import numpy as np
import pytest

from abstain.thresholds import NoSafeThresholdError, step_down
from abstain.thresholds.planning import coverage_for, risk_for, samples_for


@pytest.mark.parametrize(
    ("risk", "delta", "coverage", "error_rate"),
    [(0.05, 0.1, 0.5, 0.02), (0.1, 0.05, 0.8, 0.06), (0.05, 0.05, 0.9, 0.0)],
)
def test_calibration_succeeds_as_often_as_planned(risk, delta, coverage, error_rate):
    """The share of errors among the most trusted is the rate planned for at the coverage planned for, and rises."""
    n = samples_for(risk=risk, delta=delta, coverage=coverage, error_rate=error_rate)
    reached = 0
    for run in range(60):
        rng = np.random.default_rng([run, 1])
        u = rng.random(n)
        with_errors = rng.random(n) < 3 * error_rate * (u / coverage) ** 2
        try:
            reached += step_down(1 - u, with_errors, risk=risk, delta=delta).accepted >= (coverage - 0.02) * n
        except NoSafeThresholdError:
            continue
    assert reached / 60 >= 0.9 - 3 * np.sqrt(0.09 / 60)


def test_more_rows_reach_lower_risks_and_the_two_answers_agree():
    risks = [risk_for(n=n, delta=0.05, coverage=0.6, error_rate=0.01) for n in (200, 500, 2000, 10_000)]
    assert risks == sorted(risks, reverse=True)
    n = samples_for(risk=0.03, delta=0.05, coverage=0.6, error_rate=0.01)
    assert risk_for(n=n, delta=0.05, coverage=0.6, error_rate=0.01) <= 0.0302
    assert risk_for(n=n // 2, delta=0.05, coverage=0.6, error_rate=0.01) > 0.03


def test_low_coverages_are_tested_at_a_small_share_and_cost_more():
    low, high = (samples_for(risk=0.05, delta=0.1, coverage=c, error_rate=0.02) for c in (0.2, 0.4))
    assert low > 2 * high


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"risk": 0.05, "coverage": 0.5, "error_rate": 0.05}, "`error_rate` must be at least 0 and below `risk`"),
        ({"risk": 0.05, "coverage": 0.0, "error_rate": 0.01}, "`coverage` must be above 0"),
        ({"risk": 0.05, "coverage": 0.5, "error_rate": 0.0499999}, "no sample is enough"),
        ({"risk": 2.0, "coverage": 0.5, "error_rate": 0.01}, "`risk` must be between 0 and 1"),
    ],
)
def test_what_cannot_be_planned_is_said(options, message):
    with pytest.raises(ValueError, match=message):
        samples_for(delta=0.05, **options)


def test_no_rows_reach_nothing():
    with pytest.raises(ValueError, match="`n` must be at least 1"):
        risk_for(n=0, delta=0.05, coverage=0.5, error_rate=0.0)
    assert risk_for(n=1, delta=0.05, coverage=0.5, error_rate=0.5) == 1.0


@pytest.mark.parametrize("error_rate", [0.0, 0.005, 0.01])
def test_the_least_coverage_of_n_rows_is_one_that_n_rows_are_enough_for(error_rate):
    known = {"risk": 0.02, "delta": 0.05, "error_rate": error_rate}
    coverage = coverage_for(n=4000, **known)
    assert samples_for(coverage=coverage, **known) <= 4000 < samples_for(coverage=coverage - 0.002, **known)


def test_too_few_rows_certify_a_risk_at_no_coverage():
    assert coverage_for(n=100, risk=0.02, delta=0.05, error_rate=0.0) is None
    with pytest.raises(ValueError, match="`n` must be at least 1, got 0"):
        coverage_for(n=0, risk=0.02, delta=0.05, error_rate=0.0)

from math import ceil

import numpy as np
import pytest

from abstain.thresholds import NoSafeThresholdError, step_down
from abstain.thresholds.planning import coverage_for, risk_for, samples_for, samples_range
from abstain.thresholds.power import Assumption, likely


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


@pytest.mark.parametrize(
    ("risk", "delta", "coverage", "error_rate"),
    [(0.1, 0.05, 0.3, 0.05), (0.05, 0.1, 0.5, 0.02), (0.1, 0.05, 0.8, 0.06)],
)
def test_a_range_names_the_rows_for_a_rising_rate_and_for_one_rate_whatever_the_confidence(
    risk, delta, coverage, error_rate
):
    """Each end succeeds as often as planned on its own curve; fewer rows than the lower end do not on the flat one."""

    def share(n, rate):
        result = 0
        for run in range(150):
            rng = np.random.default_rng([run, 3])
            positions = np.arange(1, n + 1) / n
            try:
                wrong = rng.random(n) < rate(positions)
                result += step_down(-positions, wrong, risk=risk, delta=delta).accepted >= coverage * n - 1e-9
            except NoSafeThresholdError:
                continue
        return result / 150

    low, high = samples_range(risk=risk, delta=delta, coverage=coverage, error_rate=error_rate)
    assert low <= high
    noise = 2 * np.sqrt(0.09 / 150)
    assert share(high, lambda u: np.full_like(u, error_rate)) >= 0.9 - noise
    assert share(low, lambda u: 3 * error_rate * (u / coverage) ** 2) >= 0.9 - noise
    assert share(low // 2, lambda u: np.full_like(u, error_rate)) < 0.9 - noise


@pytest.mark.parametrize(
    ("known", "rising"),
    [
        ({"risk": 0.05, "delta": 0.1, "coverage": 0.5, "error_rate": 0.02, "label_share": 0.55}, True),
        ({"risk": 0.1, "delta": 0.05, "coverage": 0.3, "error_rate": 0.05}, False),
    ],
)
def test_somewhat_more_rows_than_planned_are_enough_too(known, rising):
    """The ranks tested move with the number of rows, so that some numbers above an isolated success are too few."""
    share = known.pop("label_share", 1.0)
    assumed = Assumption(known["risk"], known["delta"], known["error_rate"], 0.9)
    n = round(samples_for(rising=rising, label_share=share, **known) / share)
    for rows in range(n, ceil(1.04 * n), 3):
        accepted, labelled = ceil(known["coverage"] * rows), ceil(share * rows)
        assert likely(rows, accepted, assumed, rising=rising, labelled=labelled)


def test_what_a_segment_above_certifies_counts():
    """A coverage just below the main start was planned at the small share below it: 3,228 rows where 1,100 do."""
    assert samples_for(risk=0.1, delta=0.05, coverage=0.3, error_rate=0.05) < 1500


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


def reached(coverage, n, *, risk, error_rate=0.0, run=0):
    """Whether so many are accepted where these, and some further rows, are wrong at one rate, and all others are."""
    k = ceil(coverage * n - 1e-9)
    same = min(n, ceil(1.1 * k + 3 / risk))
    wrong = np.r_[np.random.default_rng([run, 2]).random(same) < error_rate, np.ones(n - same)]
    try:
        return step_down(-np.arange(float(n)), wrong, risk=risk).accepted >= k
    except NoSafeThresholdError:
        return False


@pytest.mark.parametrize("risk", [0.01, 0.02, 0.05, 0.1])
@pytest.mark.parametrize("n", [100, 150, 400, 700, 1000, 2500])
def test_the_coverage_told_is_certified_where_none_of_these_is_wrong(n, risk):
    coverage = coverage_for(n=n, risk=risk, delta=0.05, error_rate=0.0)
    if coverage is None:
        assert not reached(0.98, n, risk=risk)
    else:
        assert reached(coverage, n, risk=risk)


@pytest.mark.parametrize(
    ("n", "risk", "error_rate"),
    [(10_000, 0.02, 0.01), (1000, 0.05, 0.0125), (400, 0.1, 0.02), (6000, 0.02, 0.005), (20_000, 0.005, 0.001)],
)
def test_the_coverage_told_is_reached_as_often_as_told_with_errors_at_one_rate(n, risk, error_rate):
    coverage = coverage_for(n=n, risk=risk, delta=0.05, error_rate=error_rate)
    share = np.mean([reached(coverage, n, risk=risk, error_rate=error_rate, run=run) for run in range(150)])
    assert share >= 0.9 - 2 * np.sqrt(0.09 / 150)


@pytest.mark.parametrize(
    ("risk", "coverage", "error_rate"), [(0.05, 0.265, 0.0), (0.05, 0.1, 0.0), (0.05, 0.6, 0.02), (0.02, 0.2, 0.002)]
)
def test_the_rows_told_reach_the_coverage_as_often_as_told(risk, coverage, error_rate):
    n = samples_for(risk=risk, delta=0.05, coverage=coverage, error_rate=error_rate)
    share = np.mean([reached(coverage, n, risk=risk, error_rate=error_rate, run=run) for run in range(150)])
    assert share >= 0.9 - 2 * np.sqrt(0.09 / 150)


@pytest.mark.parametrize("error_rate", [0.0, 0.005, 0.01])
def test_the_rows_told_for_a_coverage_have_one_as_low(error_rate):
    known = {"risk": 0.02, "delta": 0.05, "error_rate": error_rate}
    assert coverage_for(n=samples_for(coverage=0.4, **known), **known) <= 0.4


def test_a_rate_too_near_the_risk_reaches_no_coverage():
    assert coverage_for(n=700, risk=0.05, delta=0.05, error_rate=0.03) is None


def test_too_few_rows_certify_a_risk_at_no_coverage():
    assert coverage_for(n=100, risk=0.02, delta=0.05, error_rate=0.0) is None
    with pytest.raises(ValueError, match="`n` must be at least 1, got 0"):
        coverage_for(n=0, risk=0.02, delta=0.05, error_rate=0.0)

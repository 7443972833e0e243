import numpy as np
import pytest
from scipy import stats

from abstain_reproduction.training.seed_interval import seed_interval


def test_the_interval_is_students_over_seeds():
    values = np.random.default_rng(0).normal(size=6)
    interval = seed_interval(values)
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (interval.low, interval.high) == pytest.approx((low, high), rel=1e-12)
    assert interval.training_se == pytest.approx(stats.sem(values), rel=1e-12)


def test_the_test_sample_widens_it():
    values, errors = [1.0, 2.0, 3.0], [3.0, 4.0, 5.0]
    half = np.hypot(stats.t.ppf(0.975, 2) / np.sqrt(3), stats.norm.ppf(0.975) * np.sqrt(50 / 3))
    assert seed_interval(values, errors).high == pytest.approx(2 + half, rel=1e-12)


def test_with_one_seed_only_the_test_sample_counts():
    assert seed_interval([0.5], [0.1]).low == pytest.approx(0.5 - 1.959964 * 0.1, abs=1e-7)


def test_one_seed_and_no_error_decide_nothing():
    assert seed_interval([0.5]).sign() == 0


@pytest.mark.parametrize(("values", "sign"), [([1, 1.1, 0.9], 1), ([-1, -1.1, -0.9], -1), ([-1, 1, 0], 0)])
def test_the_sign_is_that_of_the_interval(values, sign):
    assert seed_interval(values).sign() == sign


def test_among_many_comparisons_more_is_asked():
    interval = seed_interval([0.9, 1.1, 2.5])
    level = 1 - 0.05 / 8
    assert interval.interval(level) == pytest.approx(
        stats.ttest_1samp([0.9, 1.1, 2.5], 0).confidence_interval(level), rel=1e-9
    )
    assert seed_interval([0.9, 1.1, 1.4]).sign() == 1
    assert seed_interval([0.9, 1.1, 1.4]).is_better(0.05 / 50) == "undecided"

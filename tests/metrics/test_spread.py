"""The reach of an interval against its definition, solved by a general method, and against counts."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm, poisson

from abstain.metrics.spread import FEW, FEW_APART, MOST, Spread, effective_number, heaviest, normal_quantile, reach

MANY = 1e12


def by_definition(variance, third, unseen, level):
    """The largest λu + m (x − k), over a fine grid of λ, with x − k − k ln(x/k) as the quantile of t e^λ has it."""
    step, k, tail = third / variance, variance**3 / third**2, (1 - level) / 2
    expected = np.linspace(0.0, -np.log(1 - level), 2001)[:-1]
    costs = norm.isf(tail * np.exp(expected)) ** 2 / 2 * (1 + FEW / (1 + k))
    inside, beyond = (1e-300, k) if step < 0 else (k, k + 10 * costs[0] + 10 * np.sqrt(k * costs[0]))
    x = [brentq(lambda x, c=c: x - k - k * np.log(x / k) - c, inside, beyond, xtol=1e-14) for c in costs]
    return max(np.max(expected * unseen + step * (np.array(x) - k)), -unseen * np.log(1 - level))


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("third", [-0.9, -0.1, 0.05, 0.5, 2.0])
@pytest.mark.parametrize("unseen", [0.0, 0.3, 1.0, 3.0])
def test_the_reach_is_the_farthest_over_the_number_of_unseen_errors(third, unseen, level):
    expected = by_definition(1.0, third, unseen, level)
    result = reach(1.0, third, unseen, MANY, level=level)
    assert 0.995 * expected <= result <= 1.00001 * expected  # by steps: a little less, never more


def test_without_skewness_it_is_the_limit_of_a_little():
    for unseen in (0.0, 1.0, 3.0):
        whole, limit = (reach(1.0, third, unseen, MANY, level=0.95) for third in (1e-5, 0.0))
        assert whole == pytest.approx(limit, rel=1e-4)
    assert reach(4.0, 0.0, 0.0, MANY, level=0.95) == pytest.approx(2 * normal_quantile(0.975))


def test_a_normal_estimate_with_unseen_errors_is_missed_by_the_tail_at_most():
    """Of λ errors that weigh u, and none of which is seen: e^−λ P(estimate + reach < truth), whatever λ and u."""
    for unseen in (0.3, 1.0, 2.0, 5.0):
        far = reach(1.0, 0.0, unseen, MANY, level=0.95)
        expected = np.linspace(0.0, 2.9, 100)
        missed = np.exp(-expected) * norm.cdf(expected * unseen - far)
        assert missed.max() <= 0.0255
        careless = np.exp(-expected) * norm.cdf(expected * unseen - 1.96)
        assert careless.max() > 0.05 or unseen < 2


def test_it_grows_with_all_that_may_be_wrong():
    at = reach(1.0, 0.5, 1.0, 50.0, level=0.95)
    assert reach(1.1, 0.5, 1.0, 50.0, level=0.95) > at
    assert reach(1.0, 0.6, 1.0, 50.0, level=0.95) > at
    assert reach(1.0, 0.5, 1.5, 50.0, level=0.95) > at
    assert reach(1.0, 0.5, 1.0, 20.0, level=0.95) > at
    assert reach(1.0, 0.5, 1.0, 50.0, level=0.96) > at
    assert reach(0.0, 0.0, 3.0, 50.0, level=0.95) == pytest.approx(3 * np.log(20))


def test_counts_of_equal_terms_are_covered_whatever_their_mean():
    counts = np.arange(80)
    intervals = np.array([Spread(k, (-k, k), (0.0, 1.0), MANY).interval(k, level=0.95) for k in map(float, counts)])
    for mean in np.linspace(0.02, 30, 1500):
        held = (intervals[:, 0] <= mean) & (mean <= intervals[:, 1])
        assert poisson.pmf(counts, mean)[held].sum() >= 0.92


def test_normal_intervals_do_not_cover_counts():
    counts = np.arange(80)
    held = np.abs(counts - 2.5) <= 1.96 * np.sqrt(counts)
    assert poisson.pmf(counts, 2.5)[held].sum() < 0.92


def cover_of_light_terms(expected, few, runs=2500):
    """How often a difference holds in which one score finds errors among all rows: their weights are exponential."""
    rng, held = np.random.default_rng(3), 0
    for _ in range(runs):
        terms = rng.exponential(size=rng.poisson(expected))
        spread = Spread(np.sum(terms**2), (0.0, np.sum(terms**3)), (1 - np.log(MOST),) * 2, MANY, few=few)
        low, high = spread.interval(np.sum(terms), level=0.95)
        held += low <= expected <= high
    return held / runs


def test_a_difference_by_few_terms_that_may_be_light_is_covered_where_counting_them_as_in_an_area_does_not():
    assert cover_of_light_terms(6.0, FEW_APART) >= 0.93
    assert cover_of_light_terms(6.0, FEW) < 0.92


def test_what_is_too_light_to_matter_changes_no_digit():
    assert Spread(1.0, (0.1, 0.1), (0.05, 0.05), MANY).hides_nothing(level=0.95)
    assert not Spread(1.0, (0.1, 0.1), (0.5, 0.5), MANY).hides_nothing(level=0.95)


def test_weights_of_rows():
    shares = np.array([0.5, 0.25, 0.25, 0.0])
    assert heaviest(shares) == 0.5
    assert heaviest(shares, 0.8) == pytest.approx(1 / 3)
    assert heaviest(np.zeros(2)) == 0.0
    assert effective_number(shares) == pytest.approx(1 / 0.375)

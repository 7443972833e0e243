"""The reach of an interval against its definition, solved by a general method, and against counts."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import poisson

from abstain.metrics.quantiles import normal_quantile
from abstain.metrics.spread import FEW, Spread, effective_number, heaviest, reach, typical, unseen_rows

MANY = 1e12


def by_definition(variance, third, unseen, level):
    """The largest m (x − k) + u q with x − k − k ln(x/k) + q at most the cost, over a fine grid of what x costs."""
    step, k = third / variance, variance**3 / third**2
    cost = normal_quantile((1 + level) / 2) ** 2 / 2 * (1 + FEW / (1 + k))
    spent = np.linspace(0.0, cost, 4001)
    inside = 1e-300 if step < 0 else k
    beyond = k if step < 0 else k + 10 * cost + 10 * np.sqrt(k * cost)
    x = [brentq(lambda x, c=c: x - k - k * np.log(x / k) - c, inside, beyond, xtol=1e-14) for c in spent[1:]]
    return np.max(step * (np.append(k, x) - k) + unseen / cost * (cost - spent))


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("third", [-0.9, -0.1, 0.05, 0.5, 2.0])
@pytest.mark.parametrize("unseen", [0.0, 1.0, 3.0, 10.0])
def test_the_reach_is_what_the_likelihood_allows(third, unseen, level):
    expected = by_definition(1.0, third, unseen, level)
    assert reach(1.0, third, unseen, MANY, level=level) == pytest.approx(expected, rel=1e-5)


def test_without_skewness_it_is_the_limit_of_a_little():
    for unseen in (0.0, 3.0, 10.0):
        whole, limit = (reach(1.0, third, unseen, MANY, level=0.95) for third in (1e-5, 0.0))
        assert whole == pytest.approx(limit, rel=1e-4)
    assert reach(4.0, 0.0, 0.0, MANY, level=0.95) == pytest.approx(2 * normal_quantile(0.975))


def test_it_grows_with_all_that_may_be_wrong():
    at = reach(1.0, 0.5, 3.0, 50.0, level=0.95)
    assert reach(1.1, 0.5, 3.0, 50.0, level=0.95) > at
    assert reach(1.0, 0.6, 3.0, 50.0, level=0.95) > at
    assert reach(1.0, 0.5, 3.5, 50.0, level=0.95) > at
    assert reach(1.0, 0.5, 3.0, 20.0, level=0.95) > at
    assert reach(1.0, 0.5, 3.0, 50.0, level=0.96) > at
    assert reach(0.0, 0.0, 3.0, 50.0, level=0.95) == 3.0


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


def test_what_is_too_light_to_matter_changes_no_digit():
    assert Spread(1.0, (0.1, 0.1), (0.05, 0.05), MANY).hides_nothing(level=0.95)
    assert not Spread(1.0, (0.1, 0.1), (0.5, 0.5), MANY).hides_nothing(level=0.95)


def test_weights_of_rows():
    shares = np.array([0.5, 0.25, 0.25, 0.0])
    assert heaviest(shares) == pytest.approx(1 / 3)
    assert heaviest(shares[:2]) == pytest.approx(0.375)
    assert typical(shares) == pytest.approx(np.sqrt((0.25 + 0.125) / 3))
    assert effective_number(shares) == pytest.approx(1 / 0.375)
    assert np.exp(-unseen_rows(0.95)) == pytest.approx(0.04)

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from abstain.thresholds import power
from abstain.thresholds.critical_values import at_most
from abstain.thresholds.power import Assumption, all_in_turn, likely, ranks_tested
from abstain.thresholds.segments import segments


@pytest.mark.parametrize("delta", [0.2, 0.05, 1e-6])
@pytest.mark.parametrize(
    ("n", "risk"), [(250, 0.3), (700, 0.1), (1100, 0.05), (5000, 0.3), (9000, 0.01), (20_000, 0.02)]
)
def test_no_more_errors_are_allowed_than_the_rule_allows(n, risk, delta, monkeypatch):
    for number in range(len(segments(n, risk, delta))):
        monkeypatch.setattr(power, "EXACT", np.inf)
        exact = ranks_tested.__wrapped__(n, number, risk, delta)
        monkeypatch.setattr(power, "EXACT", 0)
        bounded = ranks_tested.__wrapped__(n, number, risk, delta)
        assert (bounded.in_turn <= exact.in_turn).all()
        assert (bounded.at_once <= exact.at_once).all()


def test_binomial_chances_are_those_of_scipy():
    errors, n = np.array([-1, 0, 3, 20, 25]), np.array([10, 10, 30, 20, 400])
    np.testing.assert_allclose(at_most(errors, n, 0.05), binom.cdf(errors, n, 0.05), rtol=1e-12)


def test_the_chance_to_pass_in_turn_is_that_of_simulated_walks():
    at, limits, rates = np.array([40, 60, 61, 100]), np.array([4, 5, 5, 7]), np.array([0.02, 0.1, 0.0, 0.09])
    rows = np.random.default_rng(0).random((100_000, 100)) < np.repeat(rates, np.diff(at, prepend=0))
    passed = (np.cumsum(rows, axis=1)[:, at - 1] <= limits).all(axis=1).mean()
    assert all_in_turn(at, limits, rates) == pytest.approx(passed, abs=0.005)


def test_nothing_is_likely_where_no_rank_is_tested():
    assumed = Assumption(risk=0.05, delta=0.05, error_rate=0.0, power=0.5)
    first = segments(400, 0.05, 0.05)[0].first
    assert likely(400, first, assumed)
    assert not likely(400, int(first / power.BEYOND) - 1, assumed)
    assert not likely(6, 6, replace(assumed, risk=0.6))

"""Shares with intervals, against Clopper and Pearson's and by simulation."""

import numpy as np
import pytest
from scipy.stats import binomtest

from abstain.metrics import share


@pytest.mark.parametrize(("errors", "n"), [(0, 1), (1, 1), (0, 30), (3, 30), (30, 30), (200, 1000)])
def test_the_interval_of_independent_rows_is_clopper_and_pearsons(errors, n):
    result = share([1] * errors + [0] * (n - errors))
    exact = binomtest(errors, n).proportion_ci(0.95, method="exact")
    assert (result.low, result.high) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_copies_of_a_row_add_nothing():
    errors = np.random.default_rng(0).random(60) < 0.2
    once, twice = share(errors), share(np.repeat(errors, 2), ids=np.repeat(np.arange(60), 2))
    assert twice.value == once.value
    assert twice.se == pytest.approx(once.se)
    assert twice.low == pytest.approx(once.low, abs=0.01)  # but for the degrees of freedom
    assert share(np.repeat(errors, 2)).se < 0.75 * once.se


def test_one_cluster_tells_almost_nothing():
    result = share([0, 1, 0, 1], ids=["a"] * 4)
    assert result.low < 0.05
    assert result.high > 0.95


def test_intervals_of_clusters_keep_their_level_where_those_of_rows_do_not():
    rng, draws = np.random.default_rng(0), 400
    ids, held, of_rows = np.repeat(np.arange(40), 8), 0, 0
    for _ in range(draws):
        rates = rng.beta(0.4, 1.6, size=40)  # mean 0.2
        errors = rng.random(320) < rates[ids]
        result, careless = share(errors, ids=ids), share(errors)
        held += result.low <= 0.2 <= result.high
        of_rows += careless.low <= 0.2 <= careless.high
    assert held / draws >= 0.94
    assert of_rows / draws < 0.8

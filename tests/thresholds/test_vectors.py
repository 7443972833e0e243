"""Values computed independently."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from abstain.thresholds import (
    binomial_p,
    conformal_joint,
    conformal_selection,
    hoeffding_bentkus_p,
    lower_bound,
    target_coverage,
    target_tpr,
    upper_bound,
)
from abstain.thresholds.binomial import samples_needed

S = [0.95, 0.9, 0.88, 0.8, 0.75, 0.7, 0.6, 0.55, 0.5, 0.4, 0.3, 0.2]
E = [0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1]
TEST = [0.97, 0.92, 0.85, 0.78, 0.65, 0.45, 0.35, 0.1]


def test_clopper_pearson():
    assert upper_bound(3, 100, 0.05) == pytest.approx(0.07571079374983, rel=1e-12)
    assert upper_bound(0, 100, 0.05) == pytest.approx(0.02951304960704, rel=1e-12)
    assert upper_bound(5, 5, 0.05) == 1
    assert lower_bound(0, 5, 0.05) == 0


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.001, 0.5))
def test_bounds_and_tests_agree_with_scipy(counts, delta):
    errors, n = counts
    if errors < n:
        assert upper_bound(errors, n, delta) == pytest.approx(beta.ppf(1 - delta, errors + 1, n - errors))
    if errors > 0:
        assert lower_bound(errors, n, delta) == pytest.approx(beta.ppf(delta, errors, n - errors + 1))
    assert binomial_p(errors, n, 0.1) == pytest.approx(binom.cdf(errors, n, 0.1))


def test_p_values():
    assert binomial_p(3, 200, 0.05) == pytest.approx(0.009048376396, rel=1e-9)
    assert hoeffding_bentkus_p(3 / 200, 200, 0.05) == pytest.approx(0.0245960, rel=1e-5)
    assert binomial_p(0, 0, 0.05) == hoeffding_bentkus_p(0.0, 0, 0.05) == 1


def test_samples_needed_without_an_error():
    assert samples_needed(0.01, 0.05) == 299
    assert samples_needed(0.05, 0.001) == 135


def test_ranks_for_a_target_coverage():
    s = np.arange(1000.0)
    assert target_coverage(s, coverage=0.8).accepted == 801
    assert target_coverage(s, coverage=0.8, delta=0.05).accepted == 822
    assert target_tpr(s, tpr=0.8).accepted == 801


@pytest.mark.parametrize(("risk", "lowest"), [(0.2, 0.6), (0.1, 0.8)])
def test_conformal_joint(risk, lowest):
    threshold = conformal_joint(S, E, risk=risk)
    assert min(s for s in S if threshold.accepts(s)) == lowest


def test_conformal_selection():
    threshold = conformal_selection(S, E, TEST, risk=0.3)
    assert threshold.accepts(TEST).sum() == 5
    assert threshold.guarantee.bound == pytest.approx(0.2462, abs=1e-4)


def test_binomial_tests_know_numbers_beyond_whole_ones_of_32_bits():
    from scipy.special import betainc

    from abstain.thresholds.binomial import binomial_p

    for n in (2**20, 2**31 - 1, 2**31, 10**12):
        assert binomial_p(0.1 * n, n, 0.13) < 1e-9
        assert binomial_p(0.15 * n, n, 0.13) > 1 - 1e-9
        assert binomial_p(0.1 * n, n, 0.1) == pytest.approx(0.5, abs=0.001)  # near its median
    assert binomial_p(3, 200, 0.05) == pytest.approx(float(betainc(197, 4, 0.95)), rel=1e-12)

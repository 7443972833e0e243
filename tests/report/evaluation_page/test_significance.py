import numpy as np
import pytest
from scipy.stats import binomtest

from abstain.report.evaluation_page.significance import adjusted, p_above, upper_bound_of
from abstain.thresholds.binomial import upper_bound


@pytest.mark.parametrize(("wrong", "n", "risk"), [(4, 20, 0.05), (1, 1, 0.3), (30, 400, 0.1), (0, 10, 0.1)])
def test_the_test_of_independent_rows_is_exact(wrong, n, risk):
    errors = np.arange(n) < wrong
    assert p_above(errors, None, risk) == pytest.approx(binomtest(wrong, n, risk, alternative="greater").pvalue)


def test_copies_are_no_further_evidence():
    errors = np.arange(50) < 8
    twice = p_above(np.repeat(errors, 2), np.repeat(np.arange(50), 2), 0.08)
    assert twice == pytest.approx(p_above(errors, None, 0.08))


def test_bounds_of_some_rows():
    assert upper_bound_of(np.arange(100) < 3, None, delta=0.05) == upper_bound(3, 100, 0.05)
    assert upper_bound_of(np.empty(0, dtype=bool), None, delta=0.05) == 1.0


def test_holm_takes_the_largest_so_far():
    assert adjusted([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert adjusted([]) == []
    assert adjusted([0.9, 0.8]) == [1.0, 1.0]

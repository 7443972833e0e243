import numpy as np
import pytest
from scipy.stats import binomtest

from abstain.metrics.slices import rows_of_parts
from abstain.thresholds.refutation import holm, p_above

SIZES, WRONG = (100, 110, 40), (20, 11, 0)
PARTS = rows_of_parts(np.repeat([0, 1, 2], SIZES), 3)
ERRORS = np.concatenate([np.arange(size) < wrong for size, wrong in zip(SIZES, WRONG, strict=True)])
OPTIONS = {"limit": 0.05, "level": 0.05, "largest": 1}


def p_of(wrong, n):
    return binomtest(wrong, n, 0.05, alternative="greater").pvalue


def test_holm_takes_the_largest_so_far():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_parts_are_tested_together_each_exactly():
    result = p_above(PARTS, ERRORS, np.ones(250, dtype=bool), None, **OPTIONS)
    assert result == pytest.approx([3 * p_of(20, 100), 2 * p_of(11, 110), 1.0])
    assert result[1] <= 0.05 < 3 * p_of(11, 110)  # the level over their number would not find the second


def test_a_part_that_is_never_accepted_is_not_above_and_counts_nonetheless():
    accepted = np.arange(250) >= 100
    result = p_above(PARTS, ERRORS, accepted, np.arange(250), **OPTIONS)
    assert result[0] == 1.0
    assert p_above(PARTS, ERRORS, accepted, None, **OPTIONS)[1] == pytest.approx(3 * p_of(11, 110))


def test_no_parts_have_no_tests():
    assert p_above([], ERRORS, ERRORS, None, **OPTIONS) == []

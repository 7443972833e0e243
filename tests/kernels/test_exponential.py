import mpmath
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from abstain.kernels.exponential import exp_nonpositive


@given(st.floats(-708, 0))
def test_within_two_units_in_the_last_place_of_mpmath(x):
    with mpmath.workdps(40):
        exact = float(mpmath.exp(mpmath.mpf(x)))
    assert abs(exp_nonpositive(x) - exact) <= 2 * np.spacing(exact)


def test_zero_is_exactly_one():
    assert exp_nonpositive(0.0) == 1.0


def test_below_the_range_it_stays_negligible():
    assert 0 < exp_nonpositive(-1e6) < 1e-307

import mpmath
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from abstain._kernels.lanes import LOG2_E, LOWEST, exp2_of_product


@given(st.floats(-7000, 0), st.floats(1e-3, LOG2_E / 10))
def test_within_little_more_than_a_unit_in_the_last_place_of_mpmath(x, rate):
    with mpmath.workdps(40):
        exact = mpmath.mpf(2) ** (mpmath.mpf(x) * mpmath.mpf(rate))
        assert abs(mpmath.mpf(exp2_of_product(x, rate)) - exact) <= 1.2 * np.spacing(float(exact))


@given(st.floats(-700, 0))
def test_the_rate_of_the_natural_exponential_costs_less_than_a_unit_more(x):
    with mpmath.workdps(40):
        exact = mpmath.exp(mpmath.mpf(x))
        off = abs(mpmath.mpf(exp2_of_product(x, LOG2_E)) / exact - 1)
        off_by_the_rate = -x * abs(mpmath.mpf(LOG2_E) * mpmath.log(2) - 1)
        assert off <= 2.0**-52 + off_by_the_rate


def test_zero_is_exactly_one():
    assert exp2_of_product(0.0, LOG2_E) == 1.0


def test_at_the_end_of_its_range_it_is_negligible():
    assert 0 < exp2_of_product(LOWEST / LOG2_E, LOG2_E) < 1e-307

from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain._kernels.sums import distance_powers, exact_sum, exact_sums

values = st.lists(st.floats(-1e300, 1e300) | st.floats(-1, 1), min_size=1, max_size=50)


@given(values, st.randoms(use_true_random=False))
def test_sums_are_exact_to_the_largest_value_and_know_no_order(numbers, random):
    result = exact_sum(np.array(numbers))
    assert abs(result - fsum(numbers)) <= 2.3e-16 * abs(fsum(numbers)) + 1e-30 * max(map(abs, numbers))
    random.shuffle(numbers)
    assert result == exact_sum(np.array(numbers))


def test_no_order_changes_a_digit_where_a_plain_sum_changes_many():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=100_000) * np.exp(rng.normal(size=100_000) * 5)
    order = rng.permutation(len(numbers))
    assert np.cumsum(numbers)[-1] != np.cumsum(numbers[order])[-1]
    assert exact_sum(numbers) == exact_sum(numbers[order]) == fsum(numbers)


def test_sums_by_place():
    rng = np.random.default_rng(1)
    numbers, path = rng.normal(size=1000), rng.integers(7, size=1000)
    expected = [fsum(numbers[path == k]) for k in range(8)]
    np.testing.assert_allclose(exact_sums(numbers, path, 8), expected, rtol=2.3e-16)


def test_cubed_distances_are_those_of_either_sign():
    rng = np.random.default_rng(3)
    for n in (50, 20_000):
        a, b, order = rng.normal(size=n), rng.normal(size=n), rng.permutation(n)
        cubes = (a - b) ** 3
        result = distance_powers(a, b)
        assert result == distance_powers(a[order], b[order])
        expected = fsum((a - b) ** 2), -fsum(cubes[cubes < 0]), fsum(cubes[cubes > 0])
        np.testing.assert_allclose(result, expected, rtol=1e-15)


def test_the_smallest_and_largest_numbers():
    assert exact_sum(np.zeros(3)) == 0
    assert exact_sum(np.array([5e-324, 5e-324])) == 1e-323
    assert exact_sum(np.array([1e308, 5e307, -1e308])) == 5e307


@given(values, values)
def test_few_values_are_added_by_numpy_to_the_same_digits(numbers, others):
    size = min(len(numbers), len(others))
    a, b = np.array(numbers[:size]) / 1e200, np.array(others[:size]) / 1e200
    position = np.arange(size) % 3

    def sums():
        return [exact_sum(a), *distance_powers(a, b), *exact_sums(a, position, 3)]

    by_numpy = sums()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("abstain._kernels.sums.FEW", 0)
        assert sums() == by_numpy

import numpy as np
import pytest

from abstain.kernels.radix import sorted_by_bits

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n", [1, 2, 1000, 20_000])
@pytest.mark.parametrize(("low", "high"), [(0, 63), (0, 1), (7, 24), (20, 63), (5, 5)])
def test_the_sort_looks_at_the_bits_asked_for_and_is_stable(n, low, high):
    keys = RNG.integers(2**high, size=n)
    expected = keys[np.argsort(keys >> low, kind="stable")] if high > low else keys.copy()
    np.testing.assert_array_equal(sorted_by_bits(keys, low, high), expected)


def test_keys_that_are_all_the_same():
    assert sorted_by_bits(np.full(9, 5), 0, 63).tolist() == [5] * 9

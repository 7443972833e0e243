"""Keys of floats, and counts by them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain.kernels import histogram
from abstain.kernels.histogram import add_counts, counted_rows, empty_tables, single

NONE = np.empty(0, np.int64)
KEYS = {-1.0: 0x407FFFFF, 0.0: 0x80000000, 0.5: 0xBF000000, 1.0: 0xBF800000, np.inf: 0xFF800000}


def keys_of(values):
    return [int(counted_rows(np.array([one]), np.zeros(1, bool), NONE, 0)[0][0]) for one in values]


def test_keys_are_those_of_the_theory():
    assert keys_of(KEYS) == list(KEYS.values())
    assert keys_of([-0.0]) == keys_of([0.0])
    assert keys_of([np.nan, -np.nan, -np.inf]) == [0, 0, 0]
    assert keys_of([-1e300, np.finfo(np.float32).min]) == [histogram.FIRST, histogram.FIRST]
    assert keys_of([1e300]) == [histogram.LAST - 1]


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_keys_keep_the_order(a, b):
    first, second = keys_of([a, b])
    assert (first <= second) if a <= b else (first >= second)
    if single(np.array([a]))[0] < single(np.array([b]))[0] and a > -np.inf:
        assert first < second


@pytest.mark.parametrize("n", [0, 1, 1000, (1 << 20) + 3, 5_000_000])
def test_tables_of_threads_add_up_to_the_counts_of_a_sort(n):
    rng = np.random.default_rng(n)
    values, wrong = rng.normal(size=n).astype(np.float32), rng.random(n) < 0.3
    tables = empty_tables(14)
    add_counts(tables, values, wrong, 14)
    pairs = tables.sum(axis=0).reshape(-1, 2)
    place, counts, errors = counted_rows(values, wrong, NONE, 18)
    assert np.array_equal(np.flatnonzero(pairs.any(axis=1)), place)
    assert np.array_equal(pairs[place].sum(axis=1), counts)
    assert np.array_equal(pairs[place, 1], errors)


def test_codes_keep_rows_apart():
    values, wrong = np.array([1.0, 1.0, 2.0, 1.0]), np.array([True, False, True, True])
    place, counts, errors = counted_rows(values, wrong, np.array([3, 0, 3, 3]), 12)
    assert (place >> 20).tolist() == [0, 3, 3]
    assert (counts.tolist(), errors.tolist()) == ([1, 2, 1], [0, 2, 1])

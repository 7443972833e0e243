"""Keys of floats, counts by them, and numbers for names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain._kernels.counts import FIRST, LAST, add_counts, as_single, counted_rows, empty_tables, numbered

NONE = np.empty(0, np.int64)
KEYS = {-1.0: 0x407FFFFF, 0.0: 0x80000000, 0.5: 0xBF000000, 1.0: 0xBF800000, np.inf: 0xFF800000}


def keys_of(values):
    return [int(counted_rows(np.array([value]), np.zeros(1, bool), NONE, 0)[0][0]) for value in values]


def test_keys_are_those_of_the_theory():
    assert keys_of(KEYS) == list(KEYS.values())
    assert keys_of([-0.0]) == keys_of([0.0])
    assert keys_of([np.nan, -np.nan, -np.inf]) == [0, 0, 0]
    assert keys_of([-1e300, np.finfo(np.float32).min]) == [FIRST, FIRST]
    assert keys_of([1e300]) == [LAST - 1]


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_keys_keep_the_order(a, b):
    first, second = keys_of([a, b])
    assert (first <= second) if a <= b else (first >= second)
    if as_single(np.array([a]))[0] < as_single(np.array([b]))[0] and a > -np.inf:
        assert first < second


@pytest.mark.parametrize("n", [0, 1, 1000, (1 << 20) + 3, 5_000_000])
def test_tables_of_threads_add_up_to_the_counts_of_a_sort(n):
    rng = np.random.default_rng(n)
    values, wrong = rng.normal(size=n).astype(np.float32), rng.random(n) < 0.3
    tables = empty_tables(14)
    add_counts(tables, values, wrong, 14)
    pairs = tables.sum(axis=0).reshape(-1, 2)
    bins, counts, errors = counted_rows(values, wrong, NONE, 18)
    assert np.array_equal(np.flatnonzero(pairs.any(axis=1)), bins)
    assert np.array_equal(pairs[bins].sum(axis=1), counts)
    assert np.array_equal(pairs[bins, 1], errors)


def test_codes_keep_rows_apart():
    values, wrong = np.array([1.0, 1.0, 2.0, 1.0]), np.array([True, False, True, True])
    bins, counts, errors = counted_rows(values, wrong, np.array([3, 0, 3, 3]), 12)
    assert (bins >> 20).tolist() == [0, 3, 3]
    assert (counts.tolist(), errors.tolist()) == ([1, 2, 1], [0, 2, 1])


RNG = np.random.default_rng(0)
NUMBERS = RNG.integers(-300, 300, size=2_000)
NAMES = {
    "strings": np.array([f"image-{k}" for k in NUMBERS]),
    "strings that differ at their end": np.array([f"{'x' * 70}{k}" for k in NUMBERS]),
    "every second of some strings": np.array([f"{k}" for k in np.repeat(NUMBERS, 2)])[::2],
    "integers": NUMBERS,
    "small integers": (NUMBERS % 100).astype(np.uint8),
    "large integers": NUMBERS.astype(np.uint64) + np.uint64(2**63),
    "other byte order": NUMBERS.astype(">i4"),
    "floats": NUMBERS / 7,
    "bytes": NUMBERS.astype("S5"),
    "all empty": np.array(["", ""]),
    "one": np.array(["a"]),
}


@pytest.mark.parametrize("few", [0, 1 << 16])
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_the_same_names_and_no_others_have_the_same_number(names, few, monkeypatch):
    monkeypatch.setattr("abstain._kernels.counts.FEW", few)
    number, size = numbered(names)
    distinct, expected = np.unique(names, return_inverse=True)
    assert size == len(distinct)
    assert len(np.unique(np.stack([number, expected]), axis=1).T) == size == number.max() + 1

"""Hashes of names and of rows, against plain arithmetic and in any order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from abstain.outputs.hashes import hashed, hashed_rows

FIXED = [9266097309480679803, 11014855429321381517]  # what every machine and version must give


def _mixed(word):
    """SplitMix64's finalizer in whole numbers."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


def test_names_have_the_same_hash_on_every_machine():
    assert hashed(["a", "b"], salt=1).tolist() == FIXED
    assert hashed(np.array(["a", "b"], dtype="<U40"), salt=1).tolist() == FIXED


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.integers(0, 2**63))
def test_whole_numbers_are_mixed_by_splitmix(ids, salt):
    assert hashed(ids, salt=salt).tolist() == [_mixed(first % 2**64 ^ salt) for first in ids]


def test_a_row_has_the_same_hash_in_any_order_precision_and_block():
    rows = np.random.default_rng(0).normal(size=(3000, 700)).astype(np.float32)  # of two blocks and a bit
    result, order = hashed_rows(rows, salt=7), np.random.default_rng(1).permutation(3000)
    assert len(np.unique(result)) == 3000
    np.testing.assert_array_equal(hashed_rows(rows[order].astype(np.float64), salt=7), result[order])
    assert not (hashed_rows(rows, salt=8) == result).any()


def test_columns_are_told_apart_and_zeros_are_not():
    rows = np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 3.0], [-0.0, 3.0]])
    first, other, zero, minus = hashed_rows(rows, salt=0).tolist()
    assert first != other
    assert zero == minus

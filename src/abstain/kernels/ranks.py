"""Rows in the order of their confidence, by one sort of whole numbers that hold the confidence and the row."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstain.kernels.keys import key_of, range_of_keys
from abstain.kernels.radix import sorted_by_bits

Ints = NDArray[np.int64]


class Order(NamedTuple):
    """Rows from the most trusted to the least, (n,) each."""

    rows: Ints
    begins: NDArray[np.bool_]
    """Where a group of ties begins."""

    def among(self, place: Ints, size: int, /) -> "Order":
        """The order of ``size`` of the rows, under the new numbers that ``place`` (n,) gives them; −1 for no other."""
        chosen = Order(np.empty(size, np.int64), np.empty(size, np.bool_))
        _choose(*self, place, *chosen)
        return chosen

    def numbers(self) -> tuple[Ints, Ints, Ints]:
        """The groups, the most trusted 0: (n,) each row's, (g,) their counts and a row of each."""
        group = np.empty(len(self.rows), np.int64)
        _number(*self, group)
        first = np.flatnonzero(self.begins)
        return group, np.diff(first, append=len(group)), self.rows[first]


@njit(nogil=True, cache=True)
def _pack(bits, highest, shift, row_bits, packed):  # type: ignore[no-untyped-def]
    """How far the row's key is below the highest, cut to the bits there is room for, and after it the row."""
    for i in range(bits.size):
        below = np.uint64(highest) - np.uint64(key_of(bits[i]))
        packed[i] = np.int64(((below >> shift) << row_bits) | np.uint64(i))


@njit(nogil=True, cache=True)
def _sink(rows, keys, place, end):  # type: ignore[no-untyped-def]
    """Move the entry at ``place`` down the heap of the first ``end`` entries, the lowest key on top."""
    while 2 * place + 1 < end:
        child = 2 * place + 1
        if child + 1 < end and keys[child + 1] < keys[child]:
            child += 1
        if keys[place] <= keys[child]:
            return
        keys[place], keys[child] = keys[child], keys[place]
        rows[place], rows[child] = rows[child], rows[place]
        place = child


@njit(nogil=True, cache=True)
def _order_run(rows, begins, bits):  # type: ignore[no-untyped-def]
    """Order rows whose cut keys are the same by their whole keys, the highest first, and tell where groups begin."""
    n = rows.size
    keys = np.empty(n, np.int64)
    is_ordered = True
    for place in range(n):
        keys[place] = key_of(bits[rows[place]])
        is_ordered &= place == 0 or keys[place] <= keys[place - 1]
    if not is_ordered:
        for place in range(n // 2 - 1, -1, -1):
            _sink(rows, keys, place, n)
        for end in range(n - 1, 0, -1):
            keys[0], keys[end] = keys[end], keys[0]
            rows[0], rows[end] = rows[end], rows[0]
            _sink(rows, keys, 0, end)
    for place in range(1, n):
        begins[place] = keys[place] != keys[place - 1]


@njit(nogil=True, cache=True)
def _unpack(packed, row_bits, bits, is_cut, begins):  # type: ignore[no-untyped-def]
    """Leave the rows in ``packed``, and tell where groups begin."""
    rows = (np.int64(1) << row_bits) - 1
    start = 0
    top = packed[0] >> row_bits
    packed[0] &= rows
    begins[0] = True
    for place in range(1, packed.size + 1):
        after = packed[place] >> row_bits if place < packed.size else np.int64(-1)
        if place < packed.size:
            packed[place] &= rows
            begins[place] = after != top
        if after != top:
            if is_cut and place - start > 1:
                _order_run(packed[start:place], begins[start:place], bits)
            start, top = place, after


@njit(nogil=True, cache=True)
def _choose(rows, begins, place, chosen, chosen_begins):  # type: ignore[no-untyped-def]
    found = 0
    is_new = False
    for k in range(rows.size):
        is_new |= begins[k]
        to = place[rows[k]]
        if to >= 0:
            chosen[found], chosen_begins[found] = to, is_new
            is_new = False
            found += 1


@njit(nogil=True, cache=True)
def _number(rows, begins, group):  # type: ignore[no-untyped-def]
    number = -1
    for k in range(rows.size):
        number += begins[k]
        group[rows[k]] = number


def order_rows(confidence: NDArray[np.floating], /) -> Order:
    """The exact order of confidences without NaN, ties in any.

    Low bits that no confidence uses, as those that float32 lacks, are left out. What then does not fit beside the row's
    number is compared where the rest is the same.
    """
    n = len(confidence)
    bits = np.ascontiguousarray(confidence, dtype=np.float64).view(np.int64)
    highest, lowest, unused = range_of_keys(bits)
    row_bits = (n - 1).bit_length()
    length = (highest - lowest).bit_length()
    shift = max(unused, length - (63 - row_bits))
    packed = np.empty(n, np.int64)
    _pack(bits, np.int64(highest), np.uint64(shift), np.uint64(row_bits), packed)
    packed = sorted_by_bits(packed, row_bits, row_bits + max(0, length - shift))
    begins = np.empty(n, np.bool_)
    _unpack(packed, np.int64(row_bits), bits, shift > unused, begins)
    return Order(packed, begins)

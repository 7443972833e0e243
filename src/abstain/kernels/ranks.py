"""Rows in the order of their confidence, by one sort of whole numbers that hold the confidence and the row."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.compiled import array, compiled, flag, unsigned, whole
from abstain.kernels.keys import key_of, range_of_keys
from abstain.kernels.radix import sorted_by_bits

Ints = NDArray[np.int64]
FEW = 1 << 13  # rows: NumPy is about as quick, and need not be compiled
LONGEST = 32  # places that a row is moved one by one


class Order(NamedTuple):
    """Rows from the most trusted to the least, (n,) each."""

    rows: Ints
    begins: NDArray[np.bool_]
    """Where a group of ties begins."""

    def among(self, place: Ints, size: int, /) -> "Order":
        """The order of ``size`` of the rows, under the new numbers that ``place`` (n,) gives them; −1 for no other."""
        if len(self.rows) <= FEW:
            to = place[self.rows]
            kept = to >= 0
            group = np.cumsum(self.begins)[kept]
            return Order(to[kept], np.append(True, group[1:] != group[:-1])[:size])
        chosen = Order(np.empty(size, np.int64), np.empty(size, np.bool_))
        _choose(*self, place, *chosen)
        return chosen

    def numbers(self) -> tuple[Ints, Ints, Ints]:
        """The groups, the most trusted 0: (n,) each row's, (g,) their counts and a row of each."""
        group = np.empty(len(self.rows), np.int64)
        _number(*self, group)
        first = np.flatnonzero(self.begins)
        return group, np.diff(first, append=len(group)), self.rows[first]


@compiled((array(whole), whole, unsigned, unsigned, array(whole)))
def _pack(bits, highest, shift, row_bits, packed):  # type: ignore[no-untyped-def]
    """How far the row's key is below the highest, cut to the bits there is room for, and after it the row."""
    for i in range(bits.size):
        below = np.uint64(highest) - np.uint64(key_of(bits[i]))
        packed[i] = np.int64(((below >> shift) << row_bits) | np.uint64(i))


@compiled((array(whole), whole, array(whole), flag, array(flag)))
def _unpack(packed, row_bits, bits, is_cut, begins):  # type: ignore[no-untyped-def]
    """Leave the rows in ``packed``, and tell where groups begin; False if too many cut keys are the same.

    Rows of the same cut key are put in the order of their whole keys, one by one.
    """
    rows = (np.int64(1) << row_bits) - 1
    start = 0
    before = np.int64(-1)
    for place in range(packed.size):
        cut, row = packed[place] >> row_bits, packed[place] & rows
        begins[place] = cut != before
        start = place if cut != before else start
        before = cut
        to = place
        if is_cut and start < place:
            key = key_of(bits[row])
            while to > start and key_of(bits[packed[to - 1]]) < key:
                packed[to] = packed[to - 1]
                to -= 1
            if place - to > LONGEST:
                return False
        packed[to] = row
    for place in range(packed.size):
        if is_cut and not begins[place]:
            begins[place] = key_of(bits[packed[place]]) != key_of(bits[packed[place - 1]])
    return True


@compiled((array(whole), array(flag), array(whole), array(whole), array(flag)))
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


@compiled((array(whole), array(flag), array(whole)))
def _number(rows, begins, group):  # type: ignore[no-untyped-def]
    number = -1
    for k in range(rows.size):
        number += begins[k]
        group[rows[k]] = number


def order_rows(confidence: NDArray[np.floating], /) -> Order:
    """The exact order of confidences without NaN, ties in any.

    Low bits that no confidence uses, as those that float32 lacks, are left out. What then does not fit beside the row's
    number is compared where the rest is the same, and all is sorted at length where that is so for many.
    """
    n = len(confidence)
    if n <= FEW:
        return _by_values(confidence)
    bits = np.ascontiguousarray(confidence, dtype=np.float64).view(np.int64)
    highest, lowest, unused = range_of_keys(bits)
    row_bits, length = (n - 1).bit_length(), (highest - lowest).bit_length()
    shift = max(unused, length - (63 - row_bits))
    packed = np.empty(n, np.int64)
    _pack(bits, np.int64(highest), np.uint64(shift), np.uint64(row_bits), packed)
    packed = sorted_by_bits(packed, row_bits, row_bits + max(0, length - shift))
    begins = np.empty(n, np.bool_)
    if _unpack(packed, np.int64(row_bits), bits, shift > unused, begins):
        return Order(packed, begins)
    return _by_values(confidence)


def _by_values(confidence: NDArray[np.floating]) -> Order:
    order = np.argsort(-confidence, kind="stable")
    ranked = confidence[order]
    return Order(order, np.append(True, ranked[1:] != ranked[:-1]))

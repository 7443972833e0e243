"""Rows in the order of their confidence, and groups of ties along that order.

If every loss is 0 or 1 and no row has a weight, the confidences of right rows and of wrong rows are sorted separately
and merged from the least trusted up, in parcels of groups. Rows whose ranking is known are cut into the same parcels.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Ints
from abstain._kernels.compilation import array, byte, compiled, double, flag, given, read_only, single, unsigned, whole

MAGNITUDE = np.iinfo(np.int64).max


@compiled()
def key_of(bits):  # type: ignore[no-untyped-def]
    """An integer in the order of the float64 with these bits; −0 is 0."""
    return bits if bits >= 0 else -(bits & MAGNITUDE)


@compiled((array(whole),))
def _range(bits):  # type: ignore[no-untyped-def]
    """The highest and the lowest key, and a number with every bit that any float has."""
    highest = lowest = key_of(bits[0])
    used = np.int64(0)
    for i in range(bits.size):
        key = key_of(bits[i])
        highest = key if key > highest else highest
        lowest = key if key < lowest else lowest
        used |= bits[i]
    return highest, lowest, used


def range_of_keys(bits: Ints, /) -> tuple[int, int, int]:
    """The highest and the lowest key, and how many of the lowest bits no float uses, as those that float32 lacks."""
    highest, lowest, used = (int(value) for value in _range(bits))
    return highest, lowest, max(0, (used & -used).bit_length() - 1)


def sort_floats(values: NDArray[np.floating], /) -> NDArray[np.floating]:
    """Ascending, float32 or float64 as they were; there must be no NaN, and −0 becomes 0."""
    return np.sort(values + values.dtype.type(0))


FEW = 1 << 13  # rows, up to which NumPy is as fast and needs no compiling
LONGEST = 32  # positions that a row is moved, step by step


class Order(NamedTuple):
    """Rows from the most trusted to the least, (n,) each."""

    rows: Ints
    begins: NDArray[np.bool_]
    """Where a group of ties begins."""

    def among(self, numbers: Ints, size: int, /) -> "Order":
        """The order of those ``size`` rows that have a new number in ``numbers`` (n,); −1 leaves a row out."""
        if len(self.rows) <= FEW:
            to = numbers[self.rows]
            kept = to >= 0
            group = np.cumsum(self.begins)[kept]
            return Order(to[kept], np.append(True, group[1:] != group[:-1])[:size])
        chosen = Order(np.empty(size, np.int64), np.empty(size, np.bool_))
        _choose(*self, numbers, *chosen)
        return chosen

    def numbers(self) -> tuple[Ints, Ints, Ints]:
        """Groups numbered from the most trusted, 0: (n,) that of each row, (g,) their counts, (g,) a row of each."""
        group = np.empty(len(self.rows), np.int64)
        _number_groups(*self, group)
        first = np.flatnonzero(self.begins)
        return group, np.diff(first, append=len(group)), self.rows[first]


@compiled((array(whole), whole, unsigned, unsigned, array(whole)))
def _pack(bits, highest, shift, row_bits, packed):  # type: ignore[no-untyped-def]
    """Pack into a word how far the row's key is below the highest, cut to the bits left, and then the row's index."""
    for i in range(bits.size):
        below = np.uint64(highest) - np.uint64(key_of(bits[i]))
        packed[i] = np.int64(((below >> shift) << row_bits) | np.uint64(i))


@compiled((array(whole), whole, array(whole), flag, array(flag)))
def _unpack(packed, row_bits, bits, is_cut, begins):  # type: ignore[no-untyped-def]
    """Reduce ``packed`` to the rows, and mark where groups begin; False if too many cut keys are equal.

    Rows with equal cut keys are sorted by their whole keys, by insertion.
    """
    rows = (np.int64(1) << row_bits) - 1
    start = 0
    before = np.int64(-1)
    for position in range(packed.size):
        cut, row = packed[position] >> row_bits, packed[position] & rows
        begins[position] = cut != before
        start = position if cut != before else start
        before = cut
        to = position
        if is_cut and start < position:
            key = key_of(bits[row])
            while to > start and key_of(bits[packed[to - 1]]) < key:
                packed[to] = packed[to - 1]
                to -= 1
            if position - to > LONGEST:
                return False
        packed[to] = row
    for position in range(packed.size):
        if is_cut and not begins[position]:
            begins[position] = key_of(bits[packed[position]]) != key_of(bits[packed[position - 1]])
    return True


@compiled((array(whole), array(flag), array(whole), array(whole), array(flag)))
def _choose(rows, begins, numbers, chosen, chosen_begins):  # type: ignore[no-untyped-def]
    count = 0
    is_new = False
    for k in range(rows.size):
        is_new |= begins[k]
        to = numbers[rows[k]]
        if to >= 0:
            chosen[count], chosen_begins[count] = to, is_new
            is_new = False
            count += 1


@compiled((array(whole), array(flag), array(whole)))
def _number_groups(rows, begins, group):  # type: ignore[no-untyped-def]
    number = -1
    for k in range(rows.size):
        number += begins[k]
        group[rows[k]] = number


def order_rows(confidence: NDArray[np.floating], /) -> Order:
    """The exact order of confidences without NaN; tied rows are in any order.

    Each row is a word of 64 bits, its key and its index. Low bits that no confidence uses, such as those that float32
    lacks, are left out. Bits that then do not fit are compared where the others are equal; if too many rows need that,
    all are sorted by comparisons.
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
    packed.sort()
    begins = np.empty(n, np.bool_)
    if _unpack(packed, np.int64(row_bits), bits, shift > unused, begins):
        return Order(packed, begins)
    return _by_values(confidence)


def _by_values(confidence: NDArray[np.floating]) -> Order:
    order = np.argsort(-confidence, kind="stable")
    ranked = confidence[order]
    return Order(order, np.append(True, ranked[1:] != ranked[:-1]))


PARCEL = 1024  # groups, small enough to stay in the first cache


@compiled(
    *((given(kind, 1), given(of_losses, 1), array(kind)) for kind in (single, double) for of_losses in (byte, double))
)
def _split(confidence, losses, out):  # type: ignore[no-untyped-def]
    """Put right rows (loss 0) to the front of ``out`` and wrong rows (loss 1) to its back; how many of each."""
    right = 0
    wrong = 0
    last = confidence.size - 1
    for i in range(confidence.size):
        out[right] = confidence[i]
        out[last - wrong] = confidence[i]
        right += losses[i] == 0
        wrong += losses[i] == 1
    return right, wrong


def split(
    confidence: NDArray[np.floating], losses: NDArray[Any], /
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """The confidences of rows with loss 0 and of those with loss 1, in any order."""
    if len(confidence) <= FEW:
        return confidence[losses == 0], confidence[losses == 1]
    out = np.empty(len(confidence), dtype=confidence.dtype)
    right, wrong = _split(
        read_only(confidence), read_only(losses.view(np.uint8) if losses.dtype == bool else losses), out
    )
    return out[:right], out[len(out) - wrong :]


@compiled(inline="always")
def _run(values, start):  # type: ignore[no-untyped-def]
    """The end of the run of equal values that begins at ``start``."""
    end = start + 1
    while end < values.size and values[end] == values[start]:
        end += 1
    return end


@compiled(inline="always")
def merged_parcel(right, wrong, i, j, counts, errors):  # type: ignore[no-untyped-def]
    """The next groups of two ascending arrays from indices i and j on; the new indices, and how many groups."""
    g = 0
    while g < counts.size and (i < right.size or j < wrong.size):
        while g < counts.size and i + 1 < right.size and j + 1 < wrong.size:  # rows without ties, without a branch
            a, b = right[i], wrong[j]
            if a == b or a == right[i + 1] or b == wrong[j + 1]:
                break
            is_wrong = np.int64(b < a)
            counts[g], errors[g] = 1, is_wrong
            i += 1 - is_wrong
            j += is_wrong
            g += 1
        if g == counts.size:
            break
        has_right = j == wrong.size or (i < right.size and right[i] <= wrong[j])
        has_wrong = i == right.size or (j < wrong.size and wrong[j] <= right[i])
        counts[g] = errors[g] = 0
        if has_right:
            end = _run(right, i)
            counts[g] = end - i
            i = end
        if has_wrong:
            end = _run(wrong, j)
            counts[g] += end - j
            errors[g] = end - j
            j = end
        g += 1
    return i, j, g


@compiled(*((array(kind), array(kind), array(kind), array(whole), array(double)) for kind in (single, double)))
def merged_groups(right, wrong, confidence, counts, errors):  # type: ignore[no-untyped-def]
    """Fill the ends of three arrays, with an element for each row, with the groups, descending; how many there are."""
    i = j = total = 0
    some_counts, some_errors = np.empty(PARCEL, np.int64), np.empty(PARCEL, np.int64)
    while i < right.size or j < wrong.size:
        next_right, next_wrong = i, j
        i, j, g = merged_parcel(right, wrong, i, j, some_counts, some_errors)
        for k in range(g):
            total += 1
            group = counts.size - total
            counts[group], errors[group] = some_counts[k], some_errors[k]
            confidence[group] = right[next_right] if some_errors[k] < some_counts[k] else wrong[next_wrong]
            next_right += some_counts[k] - some_errors[k]
            next_wrong += some_errors[k]
    return total


@compiled(inline="always")
def ranked_parcel(rows, begins, is_error, end, counts, errors):  # type: ignore[no-untyped-def]
    """The next groups of a ranking from row ``end`` up; where they begin, how many, and their errors."""
    g = wrong = 0
    while g < counts.size and end > 0:
        counts[g] = errors[g] = 0
        is_first = False
        while not is_first:
            end -= 1
            counts[g] += 1
            errors[g] += is_error[rows[end]]
            is_first = begins[end]
        wrong += errors[g]
        g += 1
    return end, g, wrong

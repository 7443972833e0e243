"""The place of every row in the ranking, by one sort of whole numbers that hold the confidence and the row's number."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@njit(nogil=True, cache=True)
def _key(bits, magnitude):  # type: ignore[no-untyped-def]
    """A whole number in the order of the float with these bits; −0 is 0."""
    return np.int64(bits) if bits >= 0 else -np.int64(bits & magnitude)


@njit(nogil=True, cache=True)
def _range(bits, magnitude):  # type: ignore[no-untyped-def]
    highest = lowest = _key(bits[0], magnitude)
    for i in range(bits.size):
        key = _key(bits[i], magnitude)
        highest = max(highest, key)
        lowest = min(lowest, key)
    return highest, lowest


@njit(nogil=True, cache=True)
def _pack(bits, magnitude, highest, shift, row_bits, packed):  # type: ignore[no-untyped-def]
    """How far the row's key is below the highest, cut to the bits there is room for, and after it the row."""
    for i in range(bits.size):
        below = np.uint64(highest) - np.uint64(_key(bits[i], magnitude))
        packed[i] = np.int64(((below >> shift) << row_bits) | np.uint64(i))


@njit(nogil=True, cache=True)
def _sink(packed, keys, place, end):  # type: ignore[no-untyped-def]
    """Move the entry at ``place`` down the heap of the first ``end`` entries, the lowest key on top."""
    while 2 * place + 1 < end:
        child = 2 * place + 1
        if child + 1 < end and keys[child + 1] < keys[child]:
            child += 1
        if keys[place] <= keys[child]:
            return
        keys[place], keys[child] = keys[child], keys[place]
        packed[place], packed[child] = packed[child], packed[place]
        place = child


@njit(nogil=True, cache=True)
def _order_run(packed, rows, bits, magnitude):  # type: ignore[no-untyped-def]
    """Order rows whose cut keys are the same by their whole keys, the highest first."""
    n = packed.size
    keys = np.empty(n, np.int64)
    is_ordered = True
    for place in range(n):
        keys[place] = _key(bits[packed[place] & rows], magnitude)
        is_ordered &= place == 0 or keys[place] <= keys[place - 1]
    if is_ordered:
        return
    for place in range(n // 2 - 1, -1, -1):
        _sink(packed, keys, place, n)
    for end in range(n - 1, 0, -1):
        keys[0], keys[end] = keys[end], keys[0]
        packed[0], packed[end] = packed[end], packed[0]
        _sink(packed, keys, 0, end)


@njit(nogil=True, cache=True)
def _number(packed, row_bits, keys, is_cut, group, counts):  # type: ignore[no-untyped-def]
    """Give every row the number of its group and every group its count; how many groups there are.

    One row of each group is left at the beginning of ``packed``, where all has been read by then.
    """
    bits, magnitude = keys
    rows = (np.int64(1) << row_bits) - 1
    found = start = 0
    while start < packed.size:
        end = start + 1
        while end < packed.size and packed[end] >> row_bits == packed[start] >> row_bits:
            end += 1
        is_mixed = is_cut and end - start > 1
        if is_mixed:
            _order_run(packed[start:end], rows, bits, magnitude)
        first = start
        for place in range(start, end):
            row = packed[place] & rows
            if is_mixed and _key(bits[row], magnitude) != _key(bits[packed[first] & rows], magnitude):
                counts[found] = place - first
                packed[found] = packed[first] & rows
                found += 1
                first = place
            group[row] = found
        counts[found] = end - first
        packed[found] = packed[first] & rows
        found += 1
        start = end
    return found


def tie_numbers(confidence: NDArray[np.floating], /) -> tuple[Ints, Ints, Ints]:
    """Number the groups of tied rows, the most trusted 0: (n,) each row's group, (g,) their counts and a row of each.

    Confidences are float32 or float64 without NaN. What does not fit beside the row's number is compared where the
    rest is the same, so that the order is exact.
    """
    n = len(confidence)
    whole = np.int32 if confidence.dtype == np.float32 else np.int64
    bits, magnitude = confidence.view(whole), whole(np.iinfo(whole).max)
    highest, lowest = _range(bits, magnitude)
    row_bits = max(1, (n - 1).bit_length())
    shift = max(0, (int(highest) - int(lowest)).bit_length() - (63 - row_bits))
    packed = np.empty(n, np.int64)
    _pack(bits, magnitude, highest, np.uint64(shift), np.uint64(row_bits), packed)
    packed.sort()
    group, counts = np.empty(n, np.int64), np.empty(n, np.int64)
    found = _number(packed, np.int64(row_bits), (bits, magnitude), shift > 0, group, counts)
    return group, counts[:found] if 2 * found > n else counts[:found].copy(), packed[:found]

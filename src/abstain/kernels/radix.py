"""A stable sort of whole numbers by some of their bits: the same time on any machine and for any order of the input."""

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.compiled import array, compiled, whole

Ints = NDArray[np.int64]
WIDEST = 10  # bits of a digit: more, and their places no longer stay in the first cache


@compiled((array(whole), array(whole), array(whole, 2), whole, whole), allocates=True)
def _sorted(keys, spare, places, low, width):  # type: ignore[no-untyped-def]
    """Sort by digits of ``width`` bits from bit ``low`` on, the lowest first; the array that holds the result."""
    n, (digits, size) = keys.size, places.shape
    for i in range(n):
        key = keys[i] >> low
        for d in range(digits):
            places[d, key & (size - 1)] += 1
            key >>= width
    for d in range(digits):
        shift, place = low + d * width, places[d]
        if place[(keys[0] >> shift) & (size - 1)] == n:  # one digit for all
            continue
        total = 0
        for value in range(size):
            total, place[value] = total + place[value], total
        for i in range(n):
            key = keys[i]
            value = (key >> shift) & (size - 1)
            spare[place[value]] = key
            place[value] += 1
        keys, spare = spare, keys
    return keys


def sorted_by_bits(keys: Ints, low: int, high: int, /) -> Ints:
    """Keys, taken as unsigned, in the order of their bits from ``low`` to below ``high``; these are overwritten."""
    digits = -(-(high - low) // (WIDEST if len(keys) > 1 << 13 else 8))
    if not digits:
        return keys
    width = -(-(high - low) // digits)
    found: Ints = _sorted(keys, np.empty_like(keys), np.zeros((digits, 1 << width), np.int64), low, width)
    return found

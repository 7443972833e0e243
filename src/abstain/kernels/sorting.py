"""Sort floats by their leading bits, and by all of them where these are the same."""

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.compiled import array, compiled, unsigned, whole
from abstain.kernels.keys import key_of, range_of_keys
from abstain.kernels.radix import sorted_by_bits

LEADING = 40  # bits that tell most floats apart
LONGEST = 32  # keys of the same leading bits that are put in order one by one
FEW = 1 << 14  # floats: NumPy is as quick


@compiled((array(whole), whole, unsigned))
def _above(bits, lowest, shift):  # type: ignore[no-untyped-def]
    """Put in the place of floats how far their key is above the lowest, less the bits that none uses."""
    for i in range(bits.size):
        bits[i] = np.int64((np.uint64(key_of(bits[i])) - np.uint64(lowest)) >> shift)


@compiled((array(whole), whole))
def _tidy(keys, low):  # type: ignore[no-untyped-def]
    """Put keys in order that are in order but for their lowest bits; False if too many have the others in common."""
    start = 0
    for i in range(1, keys.size):
        key = keys[i]
        if key >> low != keys[i - 1] >> low:
            start = i
        elif key < keys[i - 1]:
            if i - start > LONGEST:
                return False
            place = i
            while place > start and keys[place - 1] > key:
                keys[place] = keys[place - 1]
                place -= 1
            keys[place] = key
    return True


@compiled((array(whole), whole, unsigned))
def _floats(keys, lowest, shift):  # type: ignore[no-untyped-def]
    """Put the bits of the floats in the place of their keys."""
    for i in range(keys.size):
        key = np.int64((np.uint64(keys[i]) << shift) + np.uint64(lowest))
        keys[i] = key if key >= 0 else np.int64(np.uint64(-key) | (np.uint64(1) << np.uint64(63)))


def sort_floats(values: NDArray[np.floating], /) -> NDArray[np.floating]:
    """Ascending, float32 or float64 as they were; there must be no NaN, and −0 becomes 0.

    The values may be overwritten: memory that is new to a process takes longer to get than to sort in.
    """
    if len(values) <= FEW:
        return np.sort(values + values.dtype.type(0))
    keys = values.astype(np.float64, copy=False).view(np.int64)
    highest, lowest, unused = range_of_keys(keys)
    length = (highest - lowest).bit_length() - unused
    _above(keys, np.int64(lowest), np.uint64(unused))
    low = max(0, length - LEADING)
    keys = sorted_by_bits(keys, low, max(length, 0))
    if low and not _tidy(keys, np.int64(low)):
        keys = sorted_by_bits(keys, 0, length)
    _floats(keys, np.int64(lowest), np.uint64(unused))
    return keys.view(np.float64).astype(values.dtype, copy=False)

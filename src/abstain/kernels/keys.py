"""Floats as whole numbers in the same order."""

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.compiled import array, compiled, whole

Ints = NDArray[np.int64]
MAGNITUDE = np.iinfo(np.int64).max


@compiled()
def key_of(bits):  # type: ignore[no-untyped-def]
    """A whole number in the order of the float64 with these bits; −0 is 0."""
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

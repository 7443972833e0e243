"""Sums in fixed point: integers add up the same in any order, so no order of rows can change a digit.

Bits of a value more than some 75 below the largest value are cut off, far beyond the precision of a float64.
"""

from math import frexp

import numpy as np

from abstain._arrays import Floats, Ints
from abstain._kernels.compilation import array, compiled, double, whole

FEW = 1 << 13  # values, up to which NumPy is as fast and needs no compiling


@compiled((array(double), array(whole), double, double, array(whole), array(whole)))
def _add(values, group, scale, finer, high, low):  # type: ignore[no-untyped-def]
    for i in range(values.size):
        x = values[i] * scale  # exact, as is all that follows except the last conversion
        whole = np.int64(x)
        high[group[i]] += whole
        low[group[i]] += np.int64((x - whole) * finer)


@compiled((array(double), double, double))
def _total(values, scale, finer):  # type: ignore[no-untyped-def]
    high = low = np.int64(0)
    for i in range(values.size):
        x = values[i] * scale
        whole = np.int64(x)
        high += whole
        low += np.int64((x - whole) * finer)
    return high, low


@compiled((array(double), array(double), array(double), double))
def _total_powers(a, b, scales, finer):  # type: ignore[no-untyped-def]
    high = low = above = low_above = both = low_both = np.int64(0)
    for i in range(a.size):
        apart = a[i] - b[i]
        x, cube = apart * apart * scales[0], apart * apart * abs(apart) * scales[1]
        whole, whole_cube = np.int64(x), np.int64(cube)
        rest, is_above = np.int64((cube - whole_cube) * finer), np.int64(apart > 0)
        high += whole
        low += np.int64((x - whole) * finer)
        both += whole_cube
        low_both += rest
        above += is_above * whole_cube
        low_above += is_above * rest
    return high, low, above, low_above, both - above, low_both - low_above


def _parts(values: Floats, scale: float, finer: float) -> tuple[Ints, Ints]:
    """The integers that the kernels add up for each value."""
    x = values * scale
    high = x.astype(np.int64)
    return high, ((x - high) * finer).astype(np.int64)


def _bound(values: Floats) -> float:
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def _scales(n: int, bound: float) -> tuple[float, float]:
    """Powers of two such that n scaled values up to ``bound``, and n scaled remainders, sum to less than 2⁶²."""
    room = 62 - n.bit_length()
    return 2.0 ** min(room - frexp(bound)[1], 1023), 2.0**room


def _rounded(high: int, low: int, scale: float, finer: float) -> float:
    """The nearest float64: Python divides integers of any size exactly, and the scale is a power of two."""
    return (int(high) * int(finer) + int(low)) / int(finer) / scale


def exact_sum(values: Floats, /) -> float:
    """Σ values, (n,), the same in any order."""
    scale, finer = _scales(len(values), _bound(values))
    if len(values) <= FEW:
        return _rounded(*(part.sum() for part in _parts(values, scale, finer)), scale, finer)
    return _rounded(*_total(values, scale, finer), scale, finer)


def exact_sums(values: Floats, group: Ints, size: int, /) -> Floats:
    """(size,) the sum of the values of each group."""
    scale, finer = _scales(len(values), _bound(values))
    high, low = np.zeros(size, np.int64), np.zeros(size, np.int64)
    if len(values) <= FEW:
        for total, part in zip((high, low), _parts(values, scale, finer), strict=True):
            np.add.at(total, group, part)
    else:
        _add(values, group, scale, finer, high, low)
    whole = high.astype(np.float64)  # a high part may have more digits than a float64
    return np.asarray((whole + ((high - whole.astype(np.int64)) + low / finer)) / scale)


def distance_powers(a: Floats, b: Floats, /) -> tuple[float, float, float]:
    """Σ (a − b)², Σ (a − b)³ where a < b, without its sign, and where a > b; (n,) each, the same in any order."""
    bound = _bound(a) + _bound(b)
    (scale, finer), (scale_cubes, _) = _scales(len(a), bound**2), _scales(len(a), bound**3)
    if len(a) <= FEW:
        apart = a - b
        high, low = (part.sum() for part in _parts(apart * apart, scale, finer))
        cubes = _parts(apart * apart * apart, scale_cubes, finer)
        above, low_above = (np.maximum(part, 0).sum() for part in cubes)
        below, low_below = (-np.minimum(part, 0).sum() for part in cubes)
    else:
        high, low, above, low_above, below, low_below = _total_powers(a, b, np.array([scale, scale_cubes]), finer)
    return (
        _rounded(high, low, scale, finer),
        _rounded(below, low_below, scale_cubes, finer),
        _rounded(above, low_above, scale_cubes, finer),
    )

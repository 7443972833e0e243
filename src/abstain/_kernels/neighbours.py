"""Exact distances to the few rows of many that products in float32 show to be near."""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from abstain._kernels.compilation import array, compiled, double, given, single, whole

TOGETHER, WIDTH = 16, 64  # columns of a group, of which the largest is read first; groups are a multiple of WIDTH
STEPS = 12


class MeasuredBank(NamedTuple):
    """Rows (m, d), and of those from the first on that have a slope, the value: slope · (product + shift) − half.

    A measure is the squared distance or, if there are weights (m,), −weight · product.
    """

    rows: NDArray[np.floating]
    weights: NDArray[np.float64]
    first: int
    slopes: NDArray[np.float32]
    halves: NDArray[np.float32]


def _bank(kind: Any) -> Any:
    return types.NamedTuple((given(kind), array(double), whole, array(single), array(single)), MeasuredBank)


@compiled(inline="always")
def _number_of_groups(columns, fewest):  # type: ignore[no-untyped-def]
    """How many groups there are: many more than candidates are needed, and a multiple of a vector if there are many."""
    wanted = max(columns // TOGETHER, 2 * fewest, 1)
    return min(columns, -(-wanted // WIDTH) * WIDTH)


@compiled(inline="always")
def _largest(products, shift, slopes, halves, tops):  # type: ignore[no-untyped-def]
    """Of the columns j, j + groups, j + 2 groups … the largest value; in wide vectors, as groups are adjacent."""
    groups = tops.size
    for j in range(groups):
        tops[j] = slopes[j] * (products[j] + shift) - halves[j]
    for start in range(groups, products.size, groups):
        more = products[start : start + groups]  # views: their loop is vectorised
        steeper, less = slopes[start : start + groups], halves[start : start + groups]
        for j in range(more.size):
            value = steeper[j] * (more[j] + shift) - less[j]
            tops[j] = value if value > tops[j] else tops[j]


@compiled(inline="always")
def _ends(values):  # type: ignore[no-untyped-def]
    """The lowest and the highest."""
    low = high = values[0]
    for j in range(values.size):
        low = values[j] if values[j] < low else low
        high = values[j] if values[j] > high else high
    return low, high


@compiled(inline="always")
def _reached_by(tops, cut):  # type: ignore[no-untyped-def]
    count = np.float32(0)  # of the type of the values, for vectors
    for j in range(tops.size):
        count += np.float32(1) if tops[j] >= cut else np.float32(0)
    return count


@compiled(inline="always")
def _cut(tops, fewest):  # type: ignore[no-untyped-def]
    """A value that at least so many reach, and not many more, by halving; −inf if there are not so many."""
    if tops.size < fewest:
        return -np.float32(np.inf)
    low, high = _ends(tops)
    for _ in range(STEPS):
        middle = np.float32(0.5) * (low + high)
        count = _reached_by(tops, middle)
        if count < fewest:
            high = middle
        else:
            low = middle
            if 4 * count <= 5 * fewest:
                break
    return low


@compiled(inline="always")
def _measured(query, row, by_distance):  # type: ignore[no-untyped-def]
    """The squared distance or the product, in float64."""
    total = 0.0
    if by_distance:
        for t in range(query.size):
            apart = np.float64(query[t]) - np.float64(row[t])
            total += apart * apart
    else:
        for t in range(query.size):
            total += np.float64(query[t]) * np.float64(row[t])
    return total


@compiled(inline="always")
def _insert(best, value):  # type: ignore[no-untyped-def]
    position = best.size - 1
    if value < best[position]:
        while position > 0 and value < best[position - 1]:
            best[position] = best[position - 1]
            position -= 1
        best[position] = value


@compiled(
    *(
        (given(kind), _bank(kind), array(single, 2), array(single), whole, array(double), array(double, 2))
        for kind in (single, double)
    ),
    fastmath={"nnan", "nsz", "reassoc"},
    late=1,
)
def measure_near(queries, bank, products, shifts, fewest, cuts, best):  # type: ignore[no-untyped-def]
    """Insert into the best of each query its measures to the bank rows whose value reaches its cut.

    If ``fewest`` is above 0, the cut is computed first, such that at least so many reach it, and stored in ``cuts``.
    """
    weights, first, slopes, halves = bank.weights, bank.first, bank.slopes, bank.halves
    columns, groups = slopes.size, _number_of_groups(slopes.size, fewest)
    tops = np.empty(groups, np.float32)
    for i in range(products.shape[0]):
        row, shift = products[i, first : first + columns], shifts[i]
        _largest(row, shift, slopes, halves, tops)
        if fewest > 0:
            cuts[i] = _cut(tops, fewest)
        for group in range(groups):
            if tops[group] < cuts[i]:
                continue
            for j in range(group, columns, groups):
                if slopes[j] * (row[j] + shift) - halves[j] >= cuts[i]:
                    value = _measured(queries[i], bank.rows[first + j], weights.size == 0)
                    _insert(best[i], value if weights.size == 0 else -weights[first + j] * value)

"""Values given to the features of a row by their ranks."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstain.kernels.blocks import for_each_block

Floats = NDArray[np.float64]


@njit(nogil=True, cache=True)
def _fill(features, ordered, sums, found):  # type: ignore[no-untyped-def]
    n, d = features.shape
    means = np.empty(d)
    for i in range(n):
        first = 0
        while first < d:
            after = first + 1
            while after < d and ordered[i, after] == ordered[i, first]:
                after += 1
            means[first:after] = (sums[after] - sums[first]) / (after - first)
            first = after
        for t in range(d):
            value, place, left = features[i, t], 0, d
            while left > 1:  # the last place that is not above the value
                half = left >> 1
                place += half if ordered[i, place + half] <= value else 0
                left -= half
            found[i, t] = means[place]


def at_ranks(features: NDArray[np.floating], ordered: NDArray[np.floating], sums: Floats, /) -> Floats:
    """The mean of a profile (d,) over the places that each feature (n, d) has among those of its row, which tie or not.

    ``ordered`` are the features, each row ascending, and ``sums`` (d + 1,) those of the profile up to each place.
    """
    found = np.empty(features.shape)
    kind = np.float64 if features.dtype.itemsize > 4 else np.float32

    def work(block: slice) -> None:
        x, s = (np.ascontiguousarray(rows[block], dtype=kind) for rows in (features, ordered))
        _fill(x, s, sums, found[block])

    for_each_block(work, *features.shape)
    return found

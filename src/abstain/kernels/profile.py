"""Values given to the features of a row by their ranks."""

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.blocks import for_each_block
from abstain.kernels.compiled import array, as_given, compiled, double, given, single

Floats = NDArray[np.float64]


@compiled(*((given(kind), given(kind), array(double), array(double), array(double, 2)) for kind in (single, double)))
def _fill(features, ordered, sums, means, found):  # type: ignore[no-untyped-def]
    n, d = features.shape
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

    def work(block: slice) -> None:
        _fill(as_given(features[block]), as_given(ordered[block]), sums, np.empty(len(sums) - 1), found[block])

    for_each_block(work, *features.shape)
    return found

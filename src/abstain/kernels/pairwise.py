"""Distances from a sample to the boundaries between its predicted class and all others."""

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.blocks import for_each_block
from abstain.kernels.compiled import array, as_given, compiled, double, given, single, whole
from abstain.kernels.lanes import LANES, filled, largest, smaller, steps, total, where_above, wide
from abstain.kernels.transfers import gather, load

Floats = NDArray[np.float64]


@compiled(inline="always")
def _take(x, own, inverse, least, sums, counts):  # type: ignore[no-untyped-def]
    """Take the distances (own − x) · inverse into least, sum and count, where inverse is above 0 and x not −inf."""
    counts_here = where_above(inverse, 0.0, where_above(x, -np.inf, 1.0, 0.0), 0.0)
    distance = where_above(counts_here, 0.0, (own - x) * inverse, 0.0)
    least = smaller(where_above(counts_here, 0.0, distance, np.inf), least)
    return least, sums + distance, counts + counts_here


@compiled(*((given(kind), array(whole), array(double, 2), array(double), array(double)) for kind in (single, double)))
def _fill(logits, prediction, inverse, smallest, mean):  # type: ignore[no-untyped-def]
    n, k = logits.shape
    whole = k // LANES * LANES
    for i in range(n):
        row, own = i * k, prediction[i] * k
        z = np.float64(logits[i, prediction[i]])
        least, sums, counts = filled(np.inf), filled(0.0), filled(0.0)
        for j in range(0, whole, LANES):
            least, sums, counts = _take(wide(load(logits, row + j)), z, load(inverse, own + j), least, sums, counts)
        if whole < k:
            x, factor = (
                wide(gather(logits, row + whole, 1, k - whole)),
                where_above(np.float64(k - whole), steps(), gather(inverse, own + whole, 1, k - whole), 0.0),
            )
            least, sums, counts = _take(x, z, factor, least, sums, counts)
        count = total(counts)
        smallest[i] = -largest(0.0 - least)
        mean[i] = total(sums) / count if count else np.inf


def boundary_distances(
    logits: NDArray[np.floating], prediction: NDArray[np.int64], inverse: Floats, /
) -> tuple[Floats, Floats]:
    """Smallest and mean of (z_ŷ − z_j) · inverse[ŷ, j] over j with inverse above 0; masked classes are passed over."""
    n, k = logits.shape
    if inverse.shape != (k, k):
        raise ValueError(f"`weight` must have a row for each of the {k} classes, got {len(inverse)} rows.")
    smallest, mean = np.empty(n), np.empty(n)
    inverse = np.ascontiguousarray(inverse, dtype=np.float64)

    def work(block: slice) -> None:
        own = np.maximum(prediction[block], 0)
        _fill(as_given(logits[block]), own, inverse, smallest[block], mean[block])

    for_each_block(work, n, k)
    return smallest, mean

"""Distances from a sample to the boundaries between its predicted class and all others."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstain.kernels.blocks import for_each_block

Floats = NDArray[np.float64]


@njit(nogil=True, cache=True)
def _fill(logits, prediction, inverse, smallest, mean):  # type: ignore[no-untyped-def]
    for i in range(logits.shape[0]):
        own = prediction[i]
        z = np.float64(logits[i, own])
        least = np.inf
        total = 0.0
        count = 0
        for j in range(logits.shape[1]):
            if inverse[own, j] > 0 and logits[i, j] > -np.inf:
                distance = (z - np.float64(logits[i, j])) * inverse[own, j]
                least = min(least, distance)
                total += distance
                count += 1
        smallest[i] = least
        mean[i] = total / count if count else np.inf


def boundary_distances(
    logits: NDArray[np.floating], prediction: NDArray[np.int64], inverse: Floats, /
) -> tuple[Floats, Floats]:
    """Smallest and mean of (z_ŷ − z_j) · inverse[ŷ, j] over j with inverse above 0; masked classes are passed over."""
    n, k = logits.shape
    if inverse.shape != (k, k):
        raise ValueError(f"`weight` must have a row for each of the {k} classes, got {len(inverse)} rows.")
    smallest, mean = np.empty(n), np.empty(n)

    def work(block: slice) -> None:
        z = np.asarray(logits[block])
        z = np.ascontiguousarray(z, dtype=np.float64 if z.dtype.itemsize > 4 else np.float32)
        _fill(z, prediction[block], inverse, smallest[block], mean[block])

    for_each_block(work, n, k)
    return smallest, mean

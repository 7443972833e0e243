"""Keep the best few of many candidates, and compute their distances or products exactly."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@njit(nogil=True, cache=True)
def merge_largest(products, offset, values, index):  # type: ignore[no-untyped-def]
    """Insert each row's products (columns offset …) into its running best values, descending, and their index."""
    k = values.shape[1]
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            value = products[i, j]
            if value > values[i, k - 1]:
                place = k - 1
                while place > 0 and value > values[i, place - 1]:
                    values[i, place] = values[i, place - 1]
                    index[i, place] = index[i, place - 1]
                    place -= 1
                values[i, place] = value
                index[i, place] = offset + j


@njit(nogil=True, cache=True)
def exact_distances(queries, bank, index, distances):  # type: ignore[no-untyped-def]
    """Squared distances of each query to the bank rows in index, in float64."""
    for i in range(index.shape[0]):
        for c in range(index.shape[1]):
            total = 0.0
            for t in range(queries.shape[1]):
                apart = np.float64(queries[i, t]) - np.float64(bank[index[i, c], t])
                total += apart * apart
            distances[i, c] = total


@njit(nogil=True, cache=True)
def exact_products(queries, bank, index, products):  # type: ignore[no-untyped-def]
    """Inner products of each query with the bank rows in index, in float64, with the sign changed."""
    for i in range(index.shape[0]):
        for c in range(index.shape[1]):
            total = 0.0
            for t in range(queries.shape[1]):
                total += np.float64(queries[i, t]) * np.float64(bank[index[i, c], t])
            products[i, c] = -total

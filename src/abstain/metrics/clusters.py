"""Standard errors of means of influence values, whole clusters at a time, in an order the rows' order cannot change."""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def cluster_sums(values: Floats, ids: ArrayLike | None, /) -> Floats:
    """The sum of each cluster's values, (c,); without ids every value is its own cluster."""
    if ids is None:
        return values
    names = np.asarray(ids)
    if names.shape != values.shape:
        raise ValueError(f"`ids` must have shape {values.shape}, one per sample, got {names.shape}.")
    _, cluster = np.unique(names, return_inverse=True)
    order = np.lexsort((values, cluster))
    starts = np.flatnonzero(np.r_[True, np.diff(cluster[order]) > 0])
    return np.asarray(np.add.reduceat(values[order], starts))


def standard_error(influence: Floats, ids: ArrayLike | None, /) -> float:
    """√(c/(c−1) Σ_clusters (Σ a_i)²)/n for centred influence values a; for clusters of one it is sd(a)/√n."""
    sums = cluster_sums(influence, ids)
    if len(sums) < 2:
        raise ValueError(f"A standard error must have at least 2 different samples, got {len(sums)}.")
    total = np.sort(np.square(sums)).sum()
    return sqrt(total * len(sums) / (len(sums) - 1)) / len(influence)

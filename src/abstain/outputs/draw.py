"""Draw rows at random, whole clusters at a time."""

from math import ceil

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.distinct import numbered


def draw_rows(
    n: int, ids: NDArray[np.generic] | None, /, *, size: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """A mask of about ``size`` of n rows; rows with the same ids are all in or all out, and neither side is empty.

    It takes that share of the clusters, a number that does not depend on their sizes: so both sides are independent
    draws of clusters, as all were. To stop where the rows are nearest to ``size`` would leave the large ones out.
    """
    cluster, clusters = (np.arange(n), n) if ids is None else numbered(ids)
    if clusters < 2:
        raise ValueError(f"`ids` must name at least 2 different samples to draw from, got {clusters}.")
    taken = min(max(ceil(size * (clusters / n) - 0.5), 1), clusters - 1)
    drawn = np.zeros(clusters, dtype=bool)
    drawn[rng.permutation(clusters)[:taken]] = True
    return drawn[cluster]

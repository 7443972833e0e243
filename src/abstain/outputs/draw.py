"""Draw rows at random, whole clusters at a time."""

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.distinct import numbered


def draw_rows(
    n: int, ids: NDArray[np.generic] | None, /, *, size: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """A mask of about ``size`` of n rows; rows with the same ids are all in or all out, and neither side is empty."""
    cluster = np.arange(n) if ids is None else numbered(ids)[0]
    rows = np.bincount(cluster)
    if len(rows) < 2:
        raise ValueError(f"`ids` must name at least 2 different samples to draw from, got {len(rows)}.")
    order = rng.permutation(len(rows))
    taken = 1 + int(np.argmin(np.abs(np.cumsum(rows[order])[:-1] - size)))
    drawn = np.zeros(len(rows), dtype=bool)
    drawn[order[:taken]] = True
    return drawn[cluster]

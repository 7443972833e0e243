"""Distances from a sample to the boundaries between its predicted class and all others, on arrays of any library."""

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from abstain.kernels.pairwise import boundary_distances as exact_distances
from abstain.scores.inputs import Inputs
from abstain.scores.namespace import array_namespace
from abstain.scores.rows import Array


def boundary_distances(inputs: Inputs, inverse: NDArray[np.float64], /) -> tuple[Array, Array]:
    """Smallest and mean (n,) of (z_ŷ − z_j) · inverse[ŷ, j] over j with inverse above 0, masked classes apart."""
    rows, logits = inputs.sums(), inputs.logits
    if isinstance(logits, np.ndarray):
        return exact_distances(logits, rows.prediction, inverse)
    xp = array_namespace(logits)
    own = xp.take(xp.asarray(inverse, dtype=rows.top.dtype, device=device(logits)), rows.prediction, axis=0)
    counts = (own > 0) & (logits > -xp.inf)
    distances = xp.where(counts, (rows.top[:, None] - xp.where(counts, logits, 0.0)) * own, 0.0)
    number = xp.sum(xp.astype(counts, rows.top.dtype), axis=1)
    known = ~xp.isnan(rows.top)
    smallest = xp.min(xp.where(counts, distances, xp.inf), axis=1)
    mean = xp.where(number > 0, xp.sum(distances, axis=1) / xp.where(number > 0, number, 1.0), xp.inf)
    return xp.where(known, smallest, xp.nan), xp.where(known, mean, xp.nan)

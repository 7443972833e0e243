"""Norms of the rows of the last layer."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.scores.rows import Array


def row_norms(weight: Array, bias: Array | None = None, /, *, smallest: float = 0.0) -> NDArray[np.float64]:
    """Norms of the rows of W, or of [W, b], in float64 and at least ``smallest``."""
    w = checked_weight(weight)
    parts = [w] if bias is None else [w, as_numpy(bias)[:, None]]
    norms = np.maximum(np.sqrt(sum(np.square(part).sum(axis=1) for part in parts)), smallest)
    if not norms.all():
        raise ValueError(
            f"`weight` must have no row of norm zero, got one at class {int(np.argmin(norms))}. "
            "Its distance is undefined; pass smallest_norm=1e-12 to give it a very large one."
        )
    return np.asarray(norms)


def as_numpy(array: Array, /) -> NDArray[np.float64]:
    """A float64 NumPy array from any library, on any device."""
    if hasattr(array, "detach"):
        array = array.detach().cpu().numpy()
    return np.asarray(array, dtype=np.float64)


def checked_weight(weight: Array, /) -> NDArray[np.float64]:
    """The weight (K, d) in float64, finite."""
    w = as_numpy(weight)
    if w.ndim != 2 or not np.isfinite(w).all():
        raise ValueError(f"`weight` must be finite of shape (K, d), got shape {w.shape}.")
    return w


def is_constant(rows: NDArray[Any], /) -> bool:
    """Whether all rows are the same."""
    return bool((rows == rows[0]).all())


def inverse_distances(weight: Array, /) -> NDArray[np.float64]:
    """1/‖w_i − w_j‖ (K, K), 0 where the rows are the same."""
    from scipy.spatial.distance import cdist

    w = checked_weight(weight)
    if is_constant(w):
        raise ValueError("`weight` must have rows that differ, got the same weight for every class.")
    distances = cdist(w, w)
    return np.divide(1.0, distances, out=np.zeros_like(distances), where=distances > 0)

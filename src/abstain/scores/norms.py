"""Norms of the rows of the last layer."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain._kernels.blocks import row_blocks
from abstain.scores.rows import Array


def row_norms(weight: Array, bias: Array | None = None, /) -> NDArray[np.float64]:
    """Norms of the rows of W, or of [W, b], in float64, none of them zero."""
    w = checked_weight(weight)
    parts = [w] if bias is None else [w, as_numpy(bias)[:, None]]
    norms = np.sqrt(sum(np.square(part).sum(axis=1) for part in parts))
    if not norms.all():
        raise InvalidInputError(
            f"`weight` must have no row of norm zero, got one at class {int(np.argmin(norms))}. "
            "The distance to its hyperplane is undefined. Use another score, or leave the class out."
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
        raise InvalidInputError(f"`weight` must be finite of shape (K, d), got shape {w.shape}.")
    return w


def is_constant(rows: NDArray[Any], /) -> bool:
    """Whether all rows are the same."""
    return bool((rows == rows[0]).all())


def inverse_distances(weight: Array, /) -> NDArray[np.float64]:
    """1/‖w_i − w_j‖ (K, K), 0 where the rows are the same.

    ‖w_i‖² + ‖w_j‖² − 2⟨w_i, w_j⟩ by BLAS. Where that is below a thousandth of ‖w_i‖² + ‖w_j‖², it has lost digits, and
    ‖w_i − w_j‖² is summed directly. The relative error is below 10⁻¹².
    """
    w = checked_weight(weight)
    if is_constant(w):
        raise InvalidInputError("`weight` must have rows that differ, got the same weight for every class.")
    centred = w - w.mean(axis=0)
    squares = np.square(centred).sum(axis=1)
    inverse = np.empty((len(w), len(w)))
    for rows in row_blocks(*inverse.shape):
        sums = squares[rows, None] + squares
        apart = sums - 2 * (centred[rows] @ centred.T)
        close = apart < 1e-3 * sums
        for row in np.flatnonzero(close.any(axis=1)):
            apart[row, close[row]] = np.square(w[close[row]] - w[rows.start + row]).sum(axis=1)
        np.divide(1.0, np.sqrt(apart), out=inverse[rows], where=apart > 0)
        inverse[rows][apart == 0] = 0.0
    return inverse

"""What the formulas of fitted scores share on arrays of any library: torch tensors on a device, nodes of a graph."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

Array = Any


def double(values: Array, /) -> Array:
    """The values in float64."""
    xp = array_namespace(values)
    return xp.astype(values, xp.float64)


def constant(values: NDArray[Any], like: Array, /) -> Array:
    """An array of numbers in float64 where ``like`` is; stored as it was given."""
    return double(array_namespace(like).asarray(np.ascontiguousarray(values), device=device(like)))


def norms(rows: Array, /) -> Array:
    """Norms (n,) of rows (n, d)."""
    xp = array_namespace(rows)
    return xp.sqrt(xp.sum(rows * rows, axis=1))


def normalized_like(rows: Array, bank: NDArray[Any], /) -> Array:
    """Rows over their norms in float64, rounded as those of the bank were."""
    xp = array_namespace(rows)
    rows = double(rows)
    size = norms(rows)
    found = rows / xp.where(size < 1e-12, 1e-12, size)[:, None]
    return double(xp.astype(found, xp.float32)) if bank.dtype == np.float32 else found


def smallest_distances(rows: Array, bank: NDArray[Any], k: int, /) -> Array:
    """Squared distances (n, k), ascending, from normalized rows to the nearest of the bank."""
    xp = array_namespace(rows)
    b = constant(bank, rows)
    apart = xp.sum(rows * rows, axis=1)[:, None] - 2 * (rows @ b.T) + xp.sum(b * b, axis=1)[None, :]
    lowest = xp.sort(apart, axis=1)[:, :k]
    return xp.where(lowest < 0, 0.0, lowest)


def nearest_mean(rows: Array, matrix: NDArray[Any], means: NDArray[Any], /) -> Array:
    """Squared distance (n,) to the nearest of the means, all seen through a whitening matrix."""
    xp = array_namespace(rows)
    white, centres = rows @ constant(matrix, rows), constant(means @ matrix, rows)
    apart = xp.sum(centres * centres, axis=1)[None, :] - 2 * (white @ centres.T)
    return xp.sum(white * white, axis=1) + xp.min(apart, axis=1)


def softplus(values: Array, /) -> Array:
    """log(1 + e^x) without overflow."""
    xp = array_namespace(values)
    return xp.where(values > 0, values, 0.0) + xp.log1p(xp.exp(-xp.abs(values)))

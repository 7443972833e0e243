"""The directions in which rows vary most, from the smaller of the two matrices that have them."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def are_few(rows: int, features: int, /) -> bool:
    """Whether rows span so little of the features that what they span is the shorter thing to work with."""
    return 2 * rows <= features


def principal_axes(rows: Floats, /) -> tuple[Floats, Floats]:
    """Eigenvalues (m,) of the second moment of rows (n, d), from the largest on, and their orthonormal vectors (m, d).

    Of few rows m = n: the other eigenvalues are zero. Else m = d.
    """
    n, d = rows.shape
    if are_few(n, d):
        _, sizes, axes = np.linalg.svd(rows, full_matrices=False)
        return np.square(sizes) / n, axes
    values, vectors = np.linalg.eigh(rows.T @ rows / n)
    return np.maximum(values[::-1], 0.0), vectors.T[::-1]

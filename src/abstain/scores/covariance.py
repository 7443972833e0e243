"""Covariance of centred rows, as it is or shrunk, its inverse, and the directions in which rows vary most."""

from dataclasses import dataclass
from typing import Literal, final, get_args

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain.scores.operations import Array, array_namespace
from abstain.scores.score import CannotFitError, Stored

Estimate = Literal["ledoit_wolf", "empirical"]
ESTIMATES = get_args(Estimate)
SMALL = 64  # features
FLOOR = 1e-6  # of the mean variance: the least that a direction counts for


def are_few(rows: int, features: int, /) -> bool:
    """Whether there are so few rows that the space they span is cheaper to work with than that of the features."""
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


def estimated_covariance(centred: Floats, estimate: Estimate, /) -> Floats:
    """Covariance (d, d) of centred rows (n, d), as it is or pulled to a multiple of the identity by `shrinkage`."""
    sample = centred.T @ centred / len(centred)
    if estimate == "empirical":
        return sample
    size = np.trace(sample) / len(sample)
    amount = shrinkage(centred, np.square(sample).sum(), np.square(_plus(sample, -size)).sum())
    return _plus((1 - amount) * sample, amount * size)


def shrinkage(centred: Floats, squares: float, apart: float, /) -> float:
    """How far to pull, from 0 to 1, after Ledoit & Wolf (2004).

    Given are the sums of squares of the covariance and of its difference from a multiple of the identity.
    """
    fourth = np.square(np.square(centred).sum(axis=1)).mean()  # the sum of the mean of x²·(x²)ᵀ
    spread = (fourth - squares) / len(centred)
    return 0.0 if apart == 0 else float(min(spread, apart) / apart)


def whitening(covariance: Floats, /) -> Floats:
    """A with A·Aᵀ = covariance⁻¹; directions without variance count as if they had a millionth of the mean variance."""
    smallest = FLOOR * mean_variance(np.trace(covariance), len(covariance))
    try:
        np.linalg.cholesky(_plus(covariance, -smallest))  # only if every direction has more variance than that
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(covariance)
        return vectors / np.sqrt(np.maximum(values, smallest))
    return np.ascontiguousarray(inverse_of_lower(np.linalg.cholesky(covariance)).T)


def mean_variance(total: float, d: int, /) -> float:
    """The mean variance of a feature, which must be above 0."""
    if not FLOOR * total / d > 0:
        raise CannotFitError("the features of the fitting sample do not vary")
    return float(total / d)


def inverse_of_lower(triangle: NDArray[np.floating], /) -> NDArray[np.floating]:
    """The inverse of a lower triangle, with a sixth of the work that a full matrix takes.

    By halves: [[A, 0], [C, B]]⁻¹ = [[A⁻¹, 0], [−B⁻¹CA⁻¹, B⁻¹]].
    """
    d = len(triangle)
    if d <= SMALL:
        return np.tril(np.linalg.inv(triangle))
    half = d // 2
    upper, lower = inverse_of_lower(triangle[:half, :half]), inverse_of_lower(triangle[half:, half:])
    return np.block([[upper, np.zeros((half, d - half))], [-lower @ (triangle[half:, :half] @ upper), lower]])


def _plus(matrix: Floats, amount: float) -> Floats:
    """The matrix plus a multiple of the identity."""
    total = matrix.copy()
    total.flat[:: len(total) + 1] += amount
    return total


@final
@dataclass(frozen=True, eq=False)
class Precision(Stored):
    r"""The inverse P of a covariance (d, d) as a matrix A (d, m) and a number r.

    Many rows give a root of it, :math:`vPv^\top = \|vA\|^2` with r = 0. Few rows vary in as few directions; all others
    have the same variance 1/r, and A holds what these have more: :math:`vPv^\top = r\|v\|^2 - \|vA\|^2`.
    """

    matrix: Floats
    rest: float

    def of(self, v: Array, along: Array, /) -> Array:
        """(n,) vPvᵀ of rows v (n, d), given vA (n, m)."""
        xp = array_namespace(v)
        inside = xp.sum(along * along, axis=1)
        return self.rest * xp.sum(v * v, axis=1) - inside if self.rest else inside

    def towards(self, means: Floats, /) -> tuple[Floats, Floats]:
        """B (d, c) and h (c,) such that xPxᵀ − 2(xB − h) are the squared distances to means (c, d).

        Where distances by the same precision are compared, xPxᵀ cancels.
        """
        centres = means @ self.matrix
        slopes = self.matrix @ centres.T
        if self.rest:
            slopes = self.rest * means.T - slopes
        return slopes, np.einsum("cd,dc->c", means, slopes) / 2


def precision(centred: Floats, estimate: Estimate, /) -> Precision:
    """Of the covariance of centred rows (n, d); the least a direction varies is a millionth of the mean variance."""
    if not are_few(*centred.shape):
        return Precision(whitening(estimated_covariance(centred, estimate)), 0.0)
    n, d = centred.shape
    values, axes = principal_axes(centred)
    mean = mean_variance(values.sum(), d)
    amount = 0.0
    if estimate == "ledoit_wolf":
        apart = np.square(values - mean).sum() + (d - n) * mean**2
        amount = shrinkage(centred, np.square(values).sum(), apart)
    rest = max(amount, FLOOR) * mean
    weights = 1 / rest - 1 / np.maximum((1 - amount) * values + amount * mean, rest)
    return Precision(np.ascontiguousarray(axes.T * np.sqrt(weights)), 1 / rest)

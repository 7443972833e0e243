"""Covariance of centred rows, as it is or shrunk, and a root of its inverse."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from abstain.scores.score import CannotFitError

Floats = NDArray[np.float64]
Estimate = Literal["ledoit_wolf", "empirical"]
ESTIMATES = get_args(Estimate)
SMALL = 64  # features
FLOOR = 1e-6  # of the mean variance: the least that a direction counts for


def estimated_covariance(centred: Floats, estimate: Estimate, /) -> Floats:
    """Covariance (d, d) of centred rows (n, d), shrunk or as it is."""
    return shrunk_covariance(centred) if estimate == "ledoit_wolf" else empirical_covariance(centred)


def empirical_covariance(centred: Floats, /) -> Floats:
    """Covariance of centred rows (n, d), as it is."""
    return centred.T @ centred / len(centred)


def shrunk_covariance(centred: Floats, /) -> Floats:
    """Covariance of centred rows (n, d), pulled towards a multiple of the identity after Ledoit & Wolf (2004)."""
    sample = empirical_covariance(centred)
    size = np.trace(sample) / len(sample)
    amount = shrinkage(centred, np.square(sample).sum(), np.square(_plus(sample, -size)).sum())
    return _plus((1 - amount) * sample, amount * size)


def shrinkage(centred: Floats, squares: float, apart: float, /) -> float:
    """How far to pull, from 0 to 1, given the squares of the covariance and of what it lacks to a multiple of one."""
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
    """Of a feature; there must be some."""
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
    found = matrix.copy()
    found.flat[:: len(found) + 1] += amount
    return found

"""Gaussians with shared, shrunk covariance."""

import numpy as np
from numpy.typing import NDArray

from abstain.scores.score import CannotFitError

Floats = NDArray[np.float64]
FLOOR = 1e-6  # of the mean variance: the least that a direction counts for


def empirical_covariance(centred: Floats, /) -> Floats:
    """Covariance of centred rows (n, d), as it is."""
    return centred.T @ centred / len(centred)


def shrunk_covariance(centred: Floats, /) -> Floats:
    """Covariance of centred rows (n, d), pulled towards a multiple of the identity after Ledoit & Wolf (2004)."""
    n, d = centred.shape
    sample = empirical_covariance(centred)
    size = np.trace(sample) / d
    fourth = np.square(np.square(centred).sum(axis=1)).mean()  # the sum of the mean of x²·(x²)ᵀ
    spread = (fourth - np.square(sample).sum()) / (d * n)
    apart = np.square(_plus(sample, -size)).sum() / d
    amount = 0.0 if apart == 0 else min(spread, apart) / apart
    return _plus((1 - amount) * sample, amount * size)


def whitening(covariance: Floats, /) -> Floats:
    """A with A·Aᵀ = covariance⁻¹; directions without variance count as if they had a millionth of the mean variance."""
    smallest = FLOOR * np.trace(covariance) / len(covariance)
    if not smallest > 0:
        raise CannotFitError("the features of the fitting sample do not vary")
    try:
        np.linalg.cholesky(_plus(covariance, -smallest))  # only if every direction has more variance than that
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(covariance)
        return vectors / np.sqrt(np.maximum(values, smallest))
    from scipy.linalg.lapack import dtrtri

    return np.ascontiguousarray(dtrtri(np.linalg.cholesky(covariance), lower=1)[0].T)


def _plus(matrix: Floats, amount: float) -> Floats:
    """The matrix plus a multiple of the identity."""
    found = matrix.copy()
    found.flat[:: len(found) + 1] += amount
    return found


def class_means(features: Floats, labels: NDArray[np.int64], /) -> tuple[Floats, Floats]:
    """Mean feature (c, d) of each class there is, and the features less the mean of their class."""
    _, first, group, counts = np.unique(np.sort(labels), return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(labels, kind="stable")
    means = np.add.reduceat(features[order], first, axis=0) / counts[:, None]
    centred = np.empty_like(features)
    centred[order] = features[order] - means[group]
    return means, centred


def towards(means: Floats, matrix: Floats, /) -> tuple[Floats, Floats]:
    """B (d, c) and h (c,) such that squared distances to the means, seen through a whitening matrix, are ‖x‖² − 2(xB − h).

    ‖x‖ is seen through the matrix too; whoever compares distances to means through one matrix can leave it out.
    """
    centres = means @ matrix
    return matrix @ centres.T, np.square(centres).sum(axis=1) / 2

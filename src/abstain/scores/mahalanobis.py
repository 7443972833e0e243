"""Gaussians with shared, shrunk covariance, and squared distances to their means."""

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.kernels.products import row_products
from abstain.scores.operations import constant, products
from abstain.scores.rows import Array
from abstain.scores.score import CannotFitError

Floats = NDArray[np.float64]


def empirical_covariance(centred: Floats, /) -> Floats:
    """Covariance of centred rows (n, d), as it is."""
    return centred.T @ centred / len(centred)


def shrunk_covariance(centred: Floats, /) -> Floats:
    """Covariance of centred rows (n, d), pulled towards a multiple of the identity after Ledoit & Wolf (2004)."""
    n, d = centred.shape
    sample = empirical_covariance(centred)
    size = np.trace(sample) / d
    squares = np.square(centred)
    spread = (squares.T @ squares / n - sample**2).sum() / (d * n)
    apart = np.square(sample - size * np.eye(d)).sum() / d
    amount = 0.0 if apart == 0 else min(spread, apart) / apart
    return (1 - amount) * sample + amount * size * np.eye(d)


def whitening(covariance: Floats, /) -> Floats:
    """A with A·Aᵀ = covariance⁻¹; directions without variance count as if they had a millionth of the mean variance."""
    values, vectors = np.linalg.eigh(covariance)
    if not values.max() > 0:
        raise CannotFitError("the features of the fitting sample do not vary")
    return vectors / np.sqrt(np.maximum(values, 1e-6 * values.mean()))


def class_means(features: Floats, labels: NDArray[np.int64], /) -> tuple[Floats, Floats]:
    """Mean feature (c, d) of each class there is, and the features less the mean of their class."""
    _, group = np.unique(labels, return_inverse=True)
    sums = np.zeros((group.max() + 1, features.shape[1]))
    np.add.at(sums, group, features)
    means = sums / np.bincount(group)[:, None]
    return means, features - means[group]


def nearest_mean(features: Array, matrix: Floats, means: Floats, /) -> Array:
    """Squared distance (n,) to the nearest of the means (c, d), all seen through a whitening matrix (d, d)."""
    xp = array_namespace(features)
    centres = row_products(means, matrix)
    white = products(features, matrix)
    sizes = constant(np.square(centres).sum(axis=1), white)[None, :]
    apart = xp.min(sizes - 2 * products(white, np.ascontiguousarray(centres.T)), axis=1)
    return xp.sum(white * white, axis=1) + apart

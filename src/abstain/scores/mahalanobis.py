"""Gaussians with shared, shrunk covariance."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from abstain.names import check_name
from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.operations import double, normalized
from abstain.scores.rows import Array
from abstain.scores.samples import labelled_features, shared
from abstain.scores.score import CannotFitError

Floats = NDArray[np.float64]
Estimate = Literal["ledoit_wolf", "empirical"]
SMALL = 64  # features
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
    return np.ascontiguousarray(inverse_of_lower(np.linalg.cholesky(covariance)).T)


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


COVARIANCES: dict[str, Callable[[Floats], Floats]] = {
    "ledoit_wolf": shrunk_covariance,
    "empirical": empirical_covariance,
}


def check_covariance(covariance: str, /) -> None:
    """The name of an estimate."""
    check_name("covariance", covariance, COVARIANCES, rule="be ledoit_wolf or empirical")


def class_gaussians(sample: Outputs, covariance: Estimate, normalize: bool, /) -> tuple[Floats, Floats]:
    """The class means (c, d) of a labelled sample and the whitening matrix (d, d) of their shared covariance."""

    def find() -> tuple[Floats, Floats]:
        means, centred = class_means(*labelled_rows(sample, normalize))
        if not centred.any():
            raise CannotFitError("the fitting sample has no class whose features vary")
        return means, whitening(COVARIANCES[covariance](centred))

    return shared(sample, ("class gaussians", covariance, normalize), find)


def overall_gaussian(sample: Outputs, covariance: Estimate, normalize: bool, /) -> tuple[Floats, Floats]:
    """The mean (1, d) of all classes together and the whitening matrix (d, d) of their covariance."""
    x, _ = labelled_rows(sample, normalize)
    mean = x.mean(axis=0, keepdims=True)
    return mean, whitening(COVARIANCES[covariance](x - mean))


def labelled_rows(sample: Outputs, normalize: bool, /) -> tuple[Floats, NDArray[np.int64]]:
    """Features in float64, over their norms if asked, and labels of the rows of known classes."""
    x, labels = labelled_features(sample)
    rows = normalized(x, np.dtype(np.float64)) if normalize else x
    return rows.astype(np.float64, copy=False), labels


def feature_rows(inputs: Inputs, means: Floats, normalize: bool, /) -> Array:
    """The features in float64, over their norms if those of the means were."""
    return inputs.units("features", means) if normalize else double(inputs.features)


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
    """B (d, c) and h (c,) such that ‖x‖² − 2(xB − h) are the squared distances to means (c, d).

    All is seen through a whitening matrix; who compares distances through the same one can leave ‖x‖² out.
    """
    centres = means @ matrix
    return matrix @ centres.T, np.square(centres).sum(axis=1) / 2

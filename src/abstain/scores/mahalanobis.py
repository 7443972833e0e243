"""Gaussians with one covariance for all classes."""

import numpy as np
from numpy.typing import NDArray

from abstain.names import check_name
from abstain.outputs import Outputs
from abstain.scores.covariance import ESTIMATES, Estimate
from abstain.scores.inputs import Inputs
from abstain.scores.operations import double, normalized
from abstain.scores.precision import Precision, precision
from abstain.scores.rows import Array
from abstain.scores.samples import labelled_features, shared
from abstain.scores.score import CannotFitError

Floats = NDArray[np.float64]


def check_covariance(covariance: str, /) -> None:
    """The name of an estimate."""
    check_name("covariance", covariance, ESTIMATES, rule=f"be {' or '.join(ESTIMATES)}")


def class_gaussians(sample: Outputs, covariance: Estimate, normalize: bool, /) -> tuple[Floats, Precision]:
    """The class means (c, d) of a labelled sample and the precision that they share."""

    def find() -> tuple[Floats, Precision]:
        means, centred = class_means(*labelled_rows(sample, normalize))
        if not centred.any():
            raise CannotFitError("the fitting sample has no class whose features vary")
        return means, precision(centred, covariance)

    return shared(sample, ("class gaussians", covariance, normalize), find)


def overall_gaussian(sample: Outputs, covariance: Estimate, normalize: bool, /) -> tuple[Floats, Precision]:
    """The mean (1, d) of all classes together and their precision."""
    x, _ = labelled_rows(sample, normalize)
    mean = x.mean(axis=0, keepdims=True)
    return mean, precision(x - mean, covariance)


def labelled_rows(sample: Outputs, normalize: bool, /) -> tuple[Floats, NDArray[np.int64]]:
    """Features in float64, over their norms if asked, and labels of the rows of known classes."""
    x, labels = labelled_features(sample)
    rows = normalized(x, np.dtype(np.float64)) if normalize else x
    return rows.astype(np.float64, copy=False), labels


def feature_rows(inputs: Inputs, means: Floats, normalize: bool, /) -> Array:
    """The features in float64, over their norms if those of the means were."""
    return inputs.units("features", means) if normalize else double(inputs.features)


def class_means(features: Floats, labels: NDArray[np.int64], /) -> tuple[Floats, Floats]:
    """Mean feature (c, d) of each class there is, and the features less the mean of their class."""
    _, first, group, counts = np.unique(np.sort(labels), return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(labels, kind="stable")
    means = np.add.reduceat(features[order], first, axis=0) / counts[:, None]
    centred = np.empty_like(features)
    centred[order] = features[order] - means[group]
    return means, centred

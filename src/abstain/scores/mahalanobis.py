"""Scores by Mahalanobis distance, by Gaussians with one covariance for all classes: MDS and RMDS."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain._cached_property import cached_property
from abstain._names import check_name
from abstain.outputs import Outputs
from abstain.scores.covariance import ESTIMATES, Estimate, Precision, precision
from abstain.scores.inputs import Inputs
from abstain.scores.operations import array_namespace, constant, double, normalized, products
from abstain.scores.rows import Array
from abstain.scores.samples import labelled_features, shared
from abstain.scores.score import About, CannotFitError, FittedScore, Score, Sizes

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


@final
@dataclass(frozen=True)
class MDS(Score):
    r"""Minus the squared Mahalanobis distance to the nearest class, :math:`\max_c -M_c(x)`, with shared covariance.

    Made to detect unknown classes. Class means and covariance come from the labels of the fitting sample.

    Parameters
    ----------
    covariance : {'ledoit_wolf', 'empirical'}
        Shrunk, or as it is, which takes many more rows than features.
    normalize : bool
        Divide features by their norms first, which makes them more Gaussian: Mahalanobis++ (Müller & Hein, 2025).

    References
    ----------
    Lee et al., 2018
    """

    covariance: Estimate = "ledoit_wolf"
    normalize: bool = False

    named_by = ("normalize",)

    def __post_init__(self) -> None:
        check_covariance(self.covariance)

    @property
    def about(self) -> About:
        """The same but for the length of the features."""
        return About(
            name="mds_norm" if self.normalize else "mds",
            symbol="MDS++" if self.normalize else "MDS",
            family="feature",
            for_ood=True,
            needs=("features", "fitting", "labels"),
            reference="Müller & Hein, 2025" if self.normalize else "Lee et al., 2018",
            summary=f"Mahalanobis distance{' of features of norm 1' if self.normalize else ''} to the nearest class.",
        )

    def _fit(self, sample: Outputs, /) -> "FittedMDS":
        """Estimate the Gaussians."""
        return FittedMDS(*class_gaussians(sample, self.covariance, self.normalize), self.normalize)


@final
@dataclass(frozen=True, eq=False)
class FittedMDS(FittedScore):
    """MDS with class means (c, d) and the precision that they share."""

    means: Floats
    precision: Precision
    normalize: bool

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": self.means.shape[1]}

    @cached_property
    def _centre(self) -> Floats:
        return self.means.mean(axis=0, keepdims=True)

    @cached_property
    def _form(self) -> tuple[Floats, Floats]:
        """[A, B] and −h, with v = x − the mean of the means, for M_c = vPvᵀ − 2(vB_c − h_c)."""
        slopes, halves = self.precision.towards(self.means - self._centre)
        matrix = self.precision.matrix
        return np.hstack([matrix, slopes]), np.concatenate([np.zeros(matrix.shape[1]), -halves])

    def formula(self, inputs: Inputs, /) -> Array:
        """Minus the smallest M_c."""
        x = feature_rows(inputs, self.means, self.normalize)
        v = x - constant(self._centre, x)
        both, m = products(v, *self._form), self.precision.matrix.shape[1]
        return 2 * array_namespace(both).max(both[:, m:], axis=1) - self.precision.of(v, both[:, :m])


@final
@dataclass(frozen=True)
class RMDS(Score):
    r"""Relative Mahalanobis distance, :math:`\max_c (M_0(x) - M_c(x))`, M₀ that to all classes together.

    Leads on fine-tuned vision transformers. Class means and their shared covariance come from the labels of the fitting
    sample; classes that are not in it are left out.

    Parameters
    ----------
    covariance : {'ledoit_wolf', 'empirical'}
        Shrunk, or as it is, which takes many more rows than features.
    normalize : bool
        Divide features by their norms first, which makes them more Gaussian: Mahalanobis++ (Müller & Hein, 2025).

    References
    ----------
    Ren et al., 2021
    """

    covariance: Estimate = "ledoit_wolf"
    normalize: bool = False

    named_by = ("normalize",)

    def __post_init__(self) -> None:
        check_covariance(self.covariance)

    @property
    def about(self) -> About:
        """The same but for the length of the features."""
        of_units = " of features of norm 1" if self.normalize else ""
        return About(
            name="rmds_norm" if self.normalize else "rmds",
            symbol="RMDS++" if self.normalize else "RMDS",
            family="feature",
            for_ood=True,
            needs=("features", "fitting", "labels"),
            reference="Müller & Hein, 2025" if self.normalize else "Ren et al., 2021",
            summary=f"Mahalanobis distance{of_units} to the nearest class, relative to that of all samples together.",
        )

    def _fit(self, sample: Outputs, /) -> "FittedRMDS":
        """Estimate the Gaussians."""
        classes = class_gaussians(sample, self.covariance, self.normalize)
        return FittedRMDS(*classes, *overall_gaussian(sample, self.covariance, self.normalize), self.normalize)


@final
@dataclass(frozen=True, eq=False)
class FittedRMDS(FittedScore):
    """RMDS with class means (c, d), the overall mean (1, d), and the precision of each."""

    means: Floats
    precision: Precision
    overall: Floats
    overall_precision: Precision
    normalize: bool

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": self.means.shape[1]}

    @cached_property
    def _form(self) -> tuple[Floats, Floats]:
        """[D, B] and −h, with v = x − μ₀, for M₀ − M_c = vP₀vᵀ − vPvᵀ + 2(vB_c − h_c): D = P₀ − P, or their [A₀, A]."""
        slopes, halves = self.precision.towards(self.means - self.overall)
        inner, outer = self.precision.matrix, self.overall_precision.matrix
        apart = np.hstack([outer, inner]) if self.precision.rest else outer @ outer.T - inner @ inner.T
        return np.hstack([apart, slopes]), np.concatenate([np.zeros(apart.shape[1]), -halves])

    def formula(self, inputs: Inputs, /) -> Array:
        """M₀ less the smallest M_c; rounding is that of float64 times the condition of the covariances."""
        x = feature_rows(inputs, self.means, self.normalize)
        v = x - constant(self.overall, x)
        both = products(v, *self._form)
        m = self._form[0].shape[1] - len(self.means)
        return self._apart(v, both[:, :m]) + 2 * array_namespace(both).max(both[:, m:], axis=1)

    def _apart(self, v: Array, along: Array) -> Array:
        """(n,) vP₀vᵀ − vPvᵀ."""
        if not self.precision.rest:
            return array_namespace(v).sum(v * along, axis=1)
        m = self.overall_precision.matrix.shape[1]
        return self.overall_precision.of(v, along[:, :m]) - self.precision.of(v, along[:, m:])

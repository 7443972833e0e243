"""Scores by Mahalanobis distance, by Gaussians with one covariance for all classes: MDS, RMDS and Δ-MDS."""

from abc import ABC
from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain._cached_property import cached_property
from abstain._names import check_name
from abstain.outputs import Outputs
from abstain.scores.covariance import ESTIMATES, Estimate, Precision, precision
from abstain.scores.inputs import Inputs
from abstain.scores.operations import Array, array_namespace, constant, double, normalized, products
from abstain.scores.samples import class_means, features_of, labelled_features, once_per_sample, right_and_wrong
from abstain.scores.score import About, CannotFitError, FittedScore, Score


@once_per_sample
def class_gaussians(covariance: Estimate, normalize: bool, sample: Outputs, /) -> tuple[Floats, Precision]:
    """The class means (c, d) of a labelled sample and the precision that they share."""
    means, centred = class_means(*labelled_rows(normalize, sample))
    if not centred.any():
        raise CannotFitError("the fitting sample has no class whose features vary")
    return means, precision(centred, covariance)


def overall_gaussian(covariance: Estimate, normalize: bool, sample: Outputs, /) -> tuple[Floats, Precision]:
    """The mean (1, d) of all classes together and their precision."""
    x, _ = labelled_rows(normalize, sample)
    mean = x.mean(axis=0, keepdims=True)
    return mean, precision(x - mean, covariance)


def labelled_rows(normalize: bool, sample: Outputs, /) -> tuple[Floats, NDArray[np.int64]]:
    """Features in float64, over their norms if asked, and labels of the rows of known classes."""
    x, labels = labelled_features(sample)
    rows = normalized(x, np.dtype(np.float64)) if normalize else x
    return rows.astype(np.float64, copy=False), labels


def feature_rows(inputs: Inputs, means: Floats, normalize: bool, /) -> Array:
    """The features in float64, over their norms if those of the means were."""
    return inputs.units("features", means) if normalize else double(inputs.features)


@dataclass(frozen=True)
class ByClassGaussians(Score, ABC):
    """The options of scores by Gaussians of all classes with one covariance."""

    covariance: Estimate = "ledoit_wolf"
    normalize: bool = False

    named_by = ("normalize",)

    def __post_init__(self) -> None:
        check_name("covariance", self.covariance, ESTIMATES, rule=f"be {' or '.join(ESTIMATES)}")

    def _about(self, name: str, reference: str, relative: str) -> About:
        """The same for all but for the length of the features and what the distance is relative to."""
        of_units = " of features of norm 1" if self.normalize else ""
        return About(
            name=f"{name}_norm" if self.normalize else name,
            symbol=f"{name.upper()}++" if self.normalize else name.upper(),
            family="feature",
            for_ood=True,
            needs=("features", "fitting", "labels"),
            reference="Müller & Hein, 2025" if self.normalize else reference,
            summary=f"Mahalanobis distance{of_units} to the nearest class{relative}.",
        )


@final
@dataclass(frozen=True)
class MDS(ByClassGaussians):
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

    @property
    def about(self) -> About:
        """That of the distance to the nearest class."""
        return self._about("mds", "Lee et al., 2018", "")

    def _fit(self, sample: Outputs, /) -> "FittedMDS":
        """Estimate the Gaussians."""
        return FittedMDS(*class_gaussians(self.covariance, self.normalize, sample), self.normalize)


@final
@dataclass(frozen=True, eq=False)
class FittedMDS(FittedScore):
    """MDS with class means (c, d) and the precision that they share."""

    means: Annotated[Floats, None, "features"]
    precision: Precision
    normalize: bool

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
class RMDS(ByClassGaussians):
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

    @property
    def about(self) -> About:
        """That of the distance to the nearest class less that to all samples."""
        return self._about("rmds", "Ren et al., 2021", ", relative to that of all samples together")

    def _fit(self, sample: Outputs, /) -> "FittedRMDS":
        """Estimate the Gaussians."""
        options = (self.covariance, self.normalize, sample)
        return FittedRMDS(*class_gaussians(*options), *overall_gaussian(*options), self.normalize)


@final
@dataclass(frozen=True, eq=False)
class FittedRMDS(FittedScore):
    """RMDS with class means (c, d), the overall mean (1, d), and the precision of each."""

    means: Annotated[Floats, None, "features"]
    precision: Precision
    overall: Annotated[Floats, None, "features"]
    overall_precision: Precision
    normalize: bool

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


@final
@dataclass(frozen=True)
class DeltaMDS(Score):
    r"""Log-likelihood ratio of right to wrong, :math:`\min_c M_c^{wrong}(x) - \min_c M_c^{right}(x)`.

    Gaussians by class of the correctly and of the wrongly predicted fitting samples; one shrunk covariance for all,
    since wrong samples are few. Classes without samples are left out.

    References
    ----------
    Heng & Soh, 2026
    """

    about = About(
        name="delta_mds",
        symbol="Δ-MDS",
        family="feature",
        needs=("features", "fitting", "labels"),
        reference="Heng & Soh, 2026",
        summary="Whether a sample is closer to where the classifier was right or to where it was wrong, by Gaussians.",
    )

    @once_per_sample
    def _fit(self, sample: Outputs, /) -> "FittedDeltaMDS":
        """Estimate the Gaussians."""
        right, wrong = right_and_wrong(sample)
        x, labels = features_of(sample).astype(np.float64), sample.labels
        assert labels is not None  # or right_and_wrong had refused
        means_right, centred_right = class_means(x[right], labels[right])
        means_wrong, centred_wrong = class_means(x[wrong], labels[wrong])
        centred = np.vstack([centred_right, centred_wrong])
        return FittedDeltaMDS(means_right, means_wrong, precision(centred, "ledoit_wolf"))


@final
@dataclass(frozen=True, eq=False)
class FittedDeltaMDS(FittedScore):
    """Δ-MDS with the means of right and wrong samples by class and the precision that they share."""

    means_right: Annotated[Floats, None, "features"]
    means_wrong: Annotated[Floats, None, "features"]
    precision: Precision

    @cached_property
    def _form(self) -> tuple[Floats, Floats]:
        """B and −h for the wrong means and then the right ones."""
        slopes, halves = self.precision.towards(np.vstack([self.means_wrong, self.means_right]))
        return slopes, -halves

    def formula(self, inputs: Inputs, /) -> Array:
        """Distance to the nearest wrong mean less that to the nearest right one: xPxᵀ cancels."""
        towards_each = products(inputs.features, *self._form)
        xp, wrong = array_namespace(towards_each), len(self.means_wrong)
        return 2 * (xp.max(towards_each[:, wrong:], axis=1) - xp.max(towards_each[:, :wrong], axis=1))

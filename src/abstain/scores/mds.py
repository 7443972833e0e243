"""MDS: Mahalanobis distance to the nearest class."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.cached_property import cached_property
from abstain.outputs import Outputs
from abstain.scores.covariance import Estimate
from abstain.scores.inputs import Inputs
from abstain.scores.mahalanobis import check_covariance, class_gaussians, feature_rows
from abstain.scores.namespace import array_namespace
from abstain.scores.operations import constant, products
from abstain.scores.precision import Precision
from abstain.scores.rows import Array
from abstain.scores.score import About, FittedScore, Score, Sizes

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True)
class MDS(Score):
    r"""Minus the squared Mahalanobis distance to the nearest class, :math:`\max_c -M_c(x)`, with shared covariance.

    Class means and covariance are those of `RMDS`. (Lee et al., 2018) With ``normalize`` the features are divided by
    their norms first, which makes them more Gaussian where norms differ much: Mahalanobis++. (Müller & Hein, 2025)
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

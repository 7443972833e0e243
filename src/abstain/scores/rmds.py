"""RMDS: Mahalanobis distance to the nearest class, relative to that of all samples together."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.cached_property import cached_property
from abstain.outputs import Outputs
from abstain.scores.covariance import Estimate
from abstain.scores.inputs import Inputs
from abstain.scores.mahalanobis import check_covariance, class_gaussians, feature_rows, overall_gaussian
from abstain.scores.namespace import array_namespace
from abstain.scores.operations import constant, products
from abstain.scores.precision import Precision
from abstain.scores.rows import Array
from abstain.scores.score import About, FittedScore, Score, Sizes

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True)
class RMDS(Score):
    r"""Relative Mahalanobis distance, :math:`\max_c (M_0(x) - M_c(x))`, with covariances shrunk after Ledoit and Wolf.

    Class means and their shared covariance come from the labels of the fitting sample; classes that are not in it
    are passed over. With ``covariance="empirical"`` nothing is shrunk, as in published numbers, which takes many more
    rows than features. Leads on fine-tuned vision transformers. (Ren et al., 2021) With ``normalize`` the features are
    divided by their norms, as in `MDS`.
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

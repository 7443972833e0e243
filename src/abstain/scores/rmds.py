"""RMDS: Mahalanobis distance to the nearest class, relative to that of all samples together."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.mahalanobis import (
    Estimate,
    check_covariance,
    class_gaussians,
    feature_rows,
    overall_gaussian,
    towards,
)
from abstain.scores.operations import constant, products
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
    """RMDS with class means (c, d), the overall mean (1, d), and a whitening matrix (d, d) for each."""

    means: Floats
    matrix: Floats
    overall: Floats
    overall_matrix: Floats
    normalize: bool

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": self.means.shape[1]}

    @cached_property
    def _form(self) -> tuple[Floats, Floats]:
        """[D, B] and −h, with v = x − μ₀, for M₀ − M_c = v·D·v + 2(v·B_c − h_c): D is the difference of precisions."""
        apart = self.overall_matrix @ self.overall_matrix.T - self.matrix @ self.matrix.T
        slopes, halves = towards(self.means - self.overall, self.matrix)
        return np.hstack([apart, slopes]), np.concatenate([np.zeros(len(apart)), -halves])

    def formula(self, inputs: Inputs, /) -> Array:
        """M₀ less the smallest M_c; rounding is that of float64 times the condition of the covariances."""
        x = feature_rows(inputs, self.means, self.normalize)
        xp, d = array_namespace(x), self.means.shape[1]
        v = x - constant(self.overall, x)
        both = products(v, *self._form)
        return xp.sum(v * both[:, :d], axis=1) + 2 * xp.max(both[:, d:], axis=1)

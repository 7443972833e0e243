"""RMDS: Mahalanobis distance to the nearest class, relative to that of all samples together."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.names import check_name
from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.mahalanobis import class_means, empirical_covariance, shrunk_covariance, towards, whitening
from abstain.scores.operations import constant, double, products
from abstain.scores.rows import Array
from abstain.scores.samples import features_of
from abstain.scores.score import About, CannotFitError, FittedScore, Score, Sizes

Floats = NDArray[np.float64]
Estimate = Literal["ledoit_wolf", "empirical"]
COVARIANCES: dict[str, Callable[[Floats], Floats]] = {
    "ledoit_wolf": shrunk_covariance,
    "empirical": empirical_covariance,
}


@final
@dataclass(frozen=True)
class RMDS(Score):
    r"""Relative Mahalanobis distance, :math:`\max_c (M_0(x) - M_c(x))`, with covariances shrunk after Ledoit and Wolf.

    Class means and their shared covariance come from the labels of the fitting sample; classes that are not in it
    are passed over. With ``covariance="empirical"`` nothing is shrunk, as in published numbers, which takes many more
    rows than features. Leads on fine-tuned vision transformers. (Ren et al., 2021)
    """

    covariance: Estimate = "ledoit_wolf"

    about = About(
        name="rmds",
        symbol="RMDS",
        family="feature",
        needs=("features", "fitting", "labels"),
        reference="Ren et al., 2021",
        summary="Mahalanobis distance to the nearest class, relative to that of all samples together.",
    )

    def _fit(self, sample: Outputs, /) -> "FittedRMDS":
        """Estimate the Gaussians."""
        check_name("covariance", self.covariance, COVARIANCES, rule="be ledoit_wolf or empirical")
        estimate, labels = COVARIANCES[self.covariance], sample.labels
        if labels is None or not (labels >= 0).any():
            raise CannotFitError("the fitting sample has no labelled rows of known classes")
        x = features_of(sample)[labels >= 0].astype(np.float64)
        means, centred = class_means(x, labels[labels >= 0])
        if not centred.any():
            raise CannotFitError("the fitting sample has no class whose features vary")
        overall = x.mean(axis=0, keepdims=True)
        return FittedRMDS(means, whitening(estimate(centred)), overall, whitening(estimate(x - overall)))


@final
@dataclass(frozen=True, eq=False)
class FittedRMDS(FittedScore):
    """RMDS with class means (c, d), the overall mean (1, d), and a whitening matrix (d, d) for each."""

    means: Floats
    matrix: Floats
    overall: Floats
    overall_matrix: Floats

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
        x = double(inputs.features)
        xp, d = array_namespace(x), x.shape[1]
        v = x - constant(self.overall, x)
        both = products(v, *self._form)
        return xp.sum(v * both[:, :d], axis=1) + 2 * xp.max(both[:, d:], axis=1)

"""Δ-MDS: whether a sample is closer to right or to wrong ones, by Gaussians."""

from dataclasses import dataclass
from typing import final

import numpy as np

from abstain._cached_property import cached_property
from abstain.outputs import Outputs
from abstain.scores.covariance import Precision, precision
from abstain.scores.inputs import Inputs
from abstain.scores.mahalanobis import Floats, class_means
from abstain.scores.operations import array_namespace, products
from abstain.scores.rows import Array
from abstain.scores.samples import features_of, right_and_wrong, shared
from abstain.scores.score import About, FittedScore, Score, Sizes


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

    def _fit(self, sample: Outputs, /) -> "FittedDeltaMDS":
        """Estimate the Gaussians."""
        return shared(sample, self, lambda: self._find(sample))

    def _find(self, sample: Outputs) -> "FittedDeltaMDS":
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

    means_right: Floats
    means_wrong: Floats
    precision: Precision

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": self.means_right.shape[1]}

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

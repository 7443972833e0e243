"""PCA: a logit score of the part of the features that varies in the fitting sample."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.norms import is_constant
from abstain.scores.principal_axes import principal_axes
from abstain.scores.reshaped import ENERGY, FittedOtherHead
from abstain.scores.samples import features_of, head_of, mean_feature
from abstain.scores.score import About, CannotFitError, PlainScore, Score

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True)
class PCA(Score):
    r"""A logit score of :math:`\mu + V V^\top (x - \mu)`, V the fewest principal axes with a share of the ``variance``.

    What a sample has in directions in which the fitting sample hardly varies does not count. As the head is linear, it
    is projected once instead of every sample, and scores of distances measure them along the axes.
    (Claros-Olivares & Brockmeier, 2025)
    """

    variance: float = 0.9
    score: PlainScore = ENERGY

    about = About(
        name="pca",
        symbol="PCA",
        family="hybrid",
        for_ood=True,
        needs=("features", "head", "fitting"),
        reference="Claros-Olivares & Brockmeier, 2025",
        summary="A logit score of the part of the features that varies in the fitting sample.",
    )

    def __post_init__(self) -> None:
        if not 0 < self.variance <= 1:
            raise ValueError(f"`variance` must be above 0 and at most 1, got {self.variance}.")

    def _fit(self, sample: Outputs, /) -> FittedOtherHead:
        """Project the head."""
        weight, bias = head_of(sample)
        mean = mean_feature(sample)
        if is_constant(features_of(sample)):
            raise CannotFitError("the features of the fitting sample do not vary")
        axes = _fewest_axes(features_of(sample) - mean, self.variance)
        projected = (weight @ axes) @ axes.T
        return FittedOtherHead.of(projected, bias + (weight - projected) @ mean, self.score)


def _fewest_axes(centred: Floats, variance: float) -> Floats:
    """The fewest principal axes (d, m) with this share of the variance."""
    values, axes = principal_axes(centred)
    share = np.cumsum(values) / values.sum()
    m = min(int(np.searchsorted(share, variance)) + 1, int(np.count_nonzero(values > 1e-12 * values[0])))
    return axes[:m].T

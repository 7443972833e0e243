"""RMDS: Mahalanobis distance to the nearest class, relative to that of all samples together."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from abstain.names import check_name
from abstain.outputs import Outputs
from abstain.scores.arrays import nearest_mean
from abstain.scores.fitting import CannotFitError, Fitted, Fitter, features_of
from abstain.scores.mahalanobis import Whitened, class_means, empirical_covariance, shrunk_covariance, whitening

Floats = NDArray[np.float64]
Estimate = Literal["ledoit_wolf", "empirical"]
COVARIANCES: dict[str, Callable[[Floats], Floats]] = {
    "ledoit_wolf": shrunk_covariance,
    "empirical": empirical_covariance,
}


@final
@dataclass(frozen=True)
class RMDS(Fitter):
    r"""Relative Mahalanobis distance, :math:`\max_c (M_0(x) - M_c(x))`, with covariances shrunk after Ledoit and Wolf.

    Class means and their shared covariance come from the labels of the calibration sample; classes that are not in it
    are passed over. With ``covariance="empirical"`` nothing is shrunk, as in published numbers, which takes many more
    rows than features. Leads on fine-tuned vision transformers. (Ren et al., 2021)
    """

    covariance: Estimate = "ledoit_wolf"

    def _fit(self, calibration: Outputs, /) -> "FittedRMDS":
        """Estimate the Gaussians."""
        check_name("covariance", self.covariance, COVARIANCES, rule="be ledoit_wolf or empirical")
        estimate, labels = COVARIANCES[self.covariance], calibration.labels
        if labels is None or not (labels >= 0).any():
            raise CannotFitError("the calibration sample has no labelled rows of known classes")
        x = features_of(calibration)[labels >= 0].astype(np.float64)
        means, centred = class_means(x, labels[labels >= 0])
        if not centred.any():
            raise CannotFitError("the calibration sample has no class whose features vary")
        overall = x.mean(axis=0, keepdims=True)
        return FittedRMDS(means, whitening(estimate(centred)), overall, whitening(estimate(x - overall)))


@final
@dataclass(frozen=True, eq=False)
class FittedRMDS(Fitted):
    """RMDS with class means (c, d), the overall mean (1, d), and a whitening matrix (d, d) for each."""

    means: Floats
    matrix: Floats
    overall: Floats
    overall_matrix: Floats

    def expects(self) -> dict[str, int]:
        """What the calibration sample had."""
        return {"features": self.means.shape[1]}

    def _score(self, outputs: Outputs, /) -> Floats:
        """M₀ less the smallest M_c."""
        x = features_of(outputs)
        return Whitened(self.overall_matrix, self.overall).nearest(x) - Whitened(self.matrix, self.means).nearest(x)

    def portable(self, _: Any, features: Any, __: Any, /) -> Any:
        """The same on arrays of any library."""
        overall = nearest_mean(features, self.overall_matrix, self.overall)
        return overall - nearest_mean(features, self.matrix, self.means)

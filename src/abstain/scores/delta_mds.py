"""Δ-MDS: is the sample closer to where the classifier was right or to where it was wrong."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.arrays import nearest_mean
from abstain.scores.fitting import Fitted, Fitter, features_of, right_and_wrong
from abstain.scores.mahalanobis import Whitened, class_means, shrunk_covariance, whitening

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True)
class DeltaMDS(Fitter):
    r"""Log-likelihood ratio of right to wrong, :math:`\min_c M_c^{wrong}(x) - \min_c M_c^{right}(x)`.

    Gaussians by class of the correctly and of the wrongly predicted calibration samples; one shrunk covariance for all,
    since wrong samples are few. Classes without samples are passed over. (Heng & Soh, 2026)
    """

    def _fit(self, calibration: Outputs, /) -> "FittedDeltaMDS":
        """Estimate the Gaussians."""
        right, wrong = right_and_wrong(calibration)
        x, labels = features_of(calibration).astype(np.float64), calibration.labels
        assert labels is not None  # or right_and_wrong had refused
        means_right, centred_right = class_means(x[right], labels[right])
        means_wrong, centred_wrong = class_means(x[wrong], labels[wrong])
        matrix = whitening(shrunk_covariance(np.vstack([centred_right, centred_wrong])))
        return FittedDeltaMDS(means_right, means_wrong, matrix)


@final
@dataclass(frozen=True, eq=False)
class FittedDeltaMDS(Fitted):
    """Δ-MDS with the means of right and wrong samples by class and their whitening matrix."""

    means_right: Floats
    means_wrong: Floats
    matrix: Floats

    def expects(self) -> dict[str, int]:
        """What the calibration sample had."""
        return {"features": self.matrix.shape[0]}

    def _score(self, outputs: Outputs, /) -> Floats:
        """Distance to the nearest wrong mean less that to the nearest right one."""
        x = features_of(outputs)
        return Whitened(self.matrix, self.means_wrong).nearest(x) - Whitened(self.matrix, self.means_right).nearest(x)

    def portable(self, _: Any, features: Any, __: Any, /) -> Any:
        """The same on arrays of any library."""
        wrong = nearest_mean(features, self.matrix, self.means_wrong)
        return wrong - nearest_mean(features, self.matrix, self.means_right)

"""Δ-KNN: the same question by nearest neighbours."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.arrays import normalized_like, smallest_distances
from abstain.scores.fitting import Fitted, Fitter, right_and_wrong
from abstain.scores.knn import rows_in
from abstain.scores.neighbours import nearest_distances


@final
@dataclass(frozen=True)
class DeltaKNN(Fitter):
    r"""Mean of :math:`\log(D_j + 10^{-6})` over the k nearest wrong samples less that over the k nearest right ones.

    D are squared distances of normalized features. k is at most the number of wrong or of right calibration samples.
    (Heng & Soh, 2026)
    """

    k: int = 10

    def _fit(self, calibration: Outputs, /) -> "FittedDeltaKNN":
        """Keep the normalized features of right and of wrong samples."""
        if self.k < 1:
            raise ValueError(f"`k` must be at least 1, got {self.k}.")
        right, wrong = right_and_wrong(calibration)
        rows = rows_in("features", calibration)
        return FittedDeltaKNN(rows[right], rows[wrong], min(self.k, int(right.sum()), int(wrong.sum())))


@final
@dataclass(frozen=True, eq=False)
class FittedDeltaKNN(Fitted):
    """Δ-KNN with its two banks."""

    right: NDArray[Any]
    wrong: NDArray[Any]
    k: int

    def expects(self) -> dict[str, int]:
        """What the calibration sample had."""
        return {"features": self.right.shape[1]}

    def _score(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """Log-distance to the wrong samples less that to the right ones."""
        rows = rows_in("features", outputs)
        far, near = (
            np.log(nearest_distances(rows, bank, self.k) + 1e-6).mean(axis=1) for bank in (self.wrong, self.right)
        )
        return far - near

    def portable(self, _: Any, features: Any, __: Any, /) -> Any:
        """The same on arrays of any library."""
        xp = array_namespace(features)
        rows = normalized_like(features, self.right)
        far, near = (
            xp.mean(xp.log(smallest_distances(rows, bank, self.k) + 1e-6), axis=1) for bank in (self.wrong, self.right)
        )
        return far - near

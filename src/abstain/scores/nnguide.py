"""NNGuide: energy guided by the energy of similar calibration samples."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.arrays import constant, normalized_like
from abstain.scores.energy import energy
from abstain.scores.fitting import CannotFitError, Fitted, Fitter
from abstain.scores.knn import rows_in
from abstain.scores.neighbours import largest_products


@final
@dataclass(frozen=True)
class NNGuide(Fitter):
    r"""Energy times the mean of the k largest :math:`E_j \cos(x, x_j)` over the calibration sample.

    A high energy counts only near samples that had one. (Park et al., 2023)
    """

    k: int = 10

    def _fit(self, calibration: Outputs, /) -> "FittedNNGuide":
        """Keep the normalized features, scaled by their energies."""
        if self.k < 1:
            raise ValueError(f"`k` must be at least 1, got {self.k}.")
        bank = rows_in("features", calibration)
        if len(bank) < self.k:
            raise CannotFitError(f"the calibration sample has {len(bank)} rows, fewer than {self.k} neighbours")
        return FittedNNGuide((bank * energy(calibration.logits)[:, None]).astype(bank.dtype), self.k)


@final
@dataclass(frozen=True, eq=False)
class FittedNNGuide(Fitted):
    """NNGuide with its bank of scaled features."""

    bank: NDArray[Any]
    k: int

    def expects(self) -> dict[str, int]:
        """What the calibration sample had."""
        return {"features": self.bank.shape[1]}

    def _score(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """Energy times guidance."""
        guidance = largest_products(rows_in("features", outputs), self.bank, self.k).mean(axis=1)
        return energy(outputs.logits) * guidance

    def portable(self, logits: Any, features: Any, _: Any, /) -> Any:
        """The same on arrays of any library."""
        xp = array_namespace(logits)
        products = normalized_like(features, self.bank) @ constant(self.bank, features).T
        return energy(logits) * xp.mean(-xp.sort(-products, axis=1)[:, : self.k], axis=1)

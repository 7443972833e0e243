"""ViM: energy less a virtual logit made of the residual."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.energy import energy
from abstain.scores.fitting import CannotFitError, Fitted, Fitter, features_of
from abstain.scores.max_logit import max_logit
from abstain.scores.residual import FittedResidual, Residual


@final
@dataclass(frozen=True)
class ViM(Fitter):
    r"""Virtual-logit matching, :math:`\log\sum_k e^{z_k} - \alpha\|P^\perp(x - u)\|`.

    α makes the mean residual of the calibration sample as large as its mean largest logit. ``dim`` is that of
    `Residual`; the authors of the selective-classification paper used 64. (Wang et al., 2022)
    """

    dim: int | None = None

    def _fit(self, calibration: Outputs, /) -> "FittedViM":
        """Find the subspace and α."""
        residual = Residual(self.dim).fit(calibration)
        size = -residual(calibration).mean()
        if size <= 1e-9 * np.abs(features_of(calibration)).max():
            raise CannotFitError(
                "the calibration sample lies in the principal subspace; give it more rows or a smaller dim"
            )
        largest = float(max_logit(calibration.logits).mean())
        if largest <= 0:
            raise CannotFitError("the mean largest logit of the calibration sample is not above zero")
        return FittedViM(residual, largest / float(size))


@final
@dataclass(frozen=True, eq=False)
class FittedViM(Fitted):
    """ViM with its residual and α."""

    residual: FittedResidual
    alpha: float

    def expects(self) -> dict[str, int]:
        """What the calibration sample had."""
        return self.residual.expects()

    def _score(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """Energy plus α times the (negative) residual score."""
        return energy(outputs.logits) + self.alpha * self.residual(outputs)

    def portable(self, logits: Any, features: Any, head: Any, /) -> Any:
        """The same on arrays of any library."""
        return energy(logits) + self.alpha * self.residual.portable(logits, features, head)

"""fDBD: mean distance to the decision boundaries, relative to the distance from the mean feature."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.kernels.blocks import row_blocks
from abstain.kernels.pairwise import boundary_distances
from abstain.outputs import Outputs
from abstain.scores.arrays import constant, norms
from abstain.scores.fitting import CannotFitError, Fitted, Fitter, features_of, head_of
from abstain.scores.pairwise_margin import flaw, inverse_distances
from abstain.scores.rows import logit_rows

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True)
class FDBD(Fitter):
    r"""Mean of :math:`(z_{\hat y} - z_j)/\|w_{\hat y} - w_j\|` over j ≠ ŷ, over :math:`\|x - \mu\|`.

    μ is the mean feature of the calibration sample. Strong under larger shifts of convolutional networks.
    (Liu & Qin, 2024)
    """

    def _fit(self, calibration: Outputs, /) -> "FittedFDBD":
        """Take the mean feature and the distances between the rows of the head."""
        weight, _ = head_of(calibration)
        if reason := flaw(calibration):
            raise CannotFitError(f"the calibration outputs have {reason}")
        return FittedFDBD(features_of(calibration).astype(np.float64).mean(axis=0), inverse_distances(weight))


@final
@dataclass(frozen=True, eq=False)
class FittedFDBD(Fitted):
    """fDBD with its mean feature (d,) and the inverse distances (K, K) between the rows of the head."""

    mean: Floats
    inverse: Floats

    def expects(self) -> dict[str, int]:
        """What the calibration sample had."""
        return {"features": len(self.mean), "classes": len(self.inverse)}

    def _score(self, outputs: Outputs, /) -> Floats:
        """Mean boundary distance over the distance from the mean."""
        _, distance = boundary_distances(outputs.logits, outputs.predictions, self.inverse)
        x = features_of(outputs)
        apart = np.concatenate([np.linalg.norm(x[block] - self.mean, axis=1) for block in row_blocks(*x.shape)])
        return distance / np.maximum(apart, 1e-12)

    def portable(self, logits: Any, features: Any, _: Any, /) -> Any:
        """The same on arrays of any library."""
        xp = array_namespace(logits)
        rows = logit_rows(logits)
        own = xp.take(constant(self.inverse, logits), rows.prediction, axis=0)
        counts = (own > 0) & (logits > -xp.inf)
        distances = xp.where(counts, (rows.top[:, None] - xp.where(counts, logits, 0.0)) * own, 0.0)
        number = xp.sum(xp.astype(counts, xp.float64), axis=1)
        mean = xp.where(number > 0, xp.sum(distances, axis=1) / number, xp.inf)
        apart = norms(features - constant(self.mean, features)[None, :])
        return mean / xp.where(apart < 1e-12, 1e-12, apart)

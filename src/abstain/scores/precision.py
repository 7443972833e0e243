"""The inverse of a covariance of features, as narrow as the sample that it is estimated on."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.scores.covariance import FLOOR, Estimate, estimated_covariance, mean_variance, shrinkage, whitening
from abstain.scores.namespace import array_namespace
from abstain.scores.principal_axes import are_few, principal_axes
from abstain.scores.rows import Array
from abstain.scores.score import Stored

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class Precision(Stored):
    r"""The inverse P of a covariance (d, d) as a matrix A (d, m) and a number r.

    Many rows give a root of it, :math:`vPv^\top = \|vA\|^2` with r = 0. Few rows vary in as few directions; all others
    have the same variance 1/r, and A holds what these have more: :math:`vPv^\top = r\|v\|^2 - \|vA\|^2`.
    """

    matrix: Floats
    rest: float

    def of(self, v: Array, along: Array, /) -> Array:
        """(n,) vPvᵀ of rows v (n, d), given vA (n, m)."""
        xp = array_namespace(v)
        inside = xp.sum(along * along, axis=1)
        return self.rest * xp.sum(v * v, axis=1) - inside if self.rest else inside

    def towards(self, means: Floats, /) -> tuple[Floats, Floats]:
        """B (d, c) and h (c,) such that xPxᵀ − 2(xB − h) are the squared distances to means (c, d).

        Who compares distances by the same precision can leave xPxᵀ out.
        """
        centres = means @ self.matrix
        slopes = self.matrix @ centres.T
        if self.rest:
            slopes = self.rest * means.T - slopes
        return slopes, np.einsum("cd,dc->c", means, slopes) / 2


def precision(centred: Floats, estimate: Estimate, /) -> Precision:
    """Of the covariance of centred rows (n, d); the least a direction varies is a millionth of the mean variance."""
    if not are_few(*centred.shape):
        return Precision(whitening(estimated_covariance(centred, estimate)), 0.0)
    n, d = centred.shape
    values, axes = principal_axes(centred)
    mean = mean_variance(values.sum(), d)
    amount = 0.0
    if estimate == "ledoit_wolf":
        apart = np.square(values - mean).sum() + (d - n) * mean**2
        amount = shrinkage(centred, np.square(values).sum(), apart)
    rest = max(amount, FLOOR) * mean
    weights = 1 / rest - 1 / np.maximum((1 - amount) * values + amount * mean, rest)
    return Precision(np.ascontiguousarray(axes.T * np.sqrt(weights)), 1 / rest)

"""Residual: how far the features are from where in-distribution features vary."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.products import row_products
from abstain.outputs import Outputs
from abstain.scores.arrays import constant, norms
from abstain.scores.fitting import CannotFitError, Fitted, Fitter, features_of, head_of

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True)
class Residual(Fitter):
    r"""Minus the norm of the features outside the principal subspace, :math:`-\|P^\perp (x - u)\|`, u = −W⁺b.

    The subspace is spanned by the top ``dim`` eigenvectors of the second moment of x − u on the calibration sample.
    By default ``dim`` is 1000 for 2048 features and more, 512 from 768 on, else half of them, but at most half of
    the rank of the sample, so that the sample itself has a residual. (Wang et al., 2022)
    """

    dim: int | None = None

    def _fit(self, calibration: Outputs, /) -> "FittedResidual":
        """Find the subspace."""
        weight, bias = head_of(calibration)
        origin = -np.linalg.pinv(weight) @ bias
        x = features_of(calibration).astype(np.float64) - origin
        n, d = x.shape
        values, vectors = np.linalg.eigh(x.T @ x / n)
        rank = int(np.count_nonzero(values > values[-1] * max(n, d) * np.finfo(np.float64).eps))
        if rank == 0:
            raise CannotFitError("the features of the calibration sample are all at the origin of the head")
        if self.dim is not None and not 0 <= self.dim < d:
            raise ValueError(f"`dim` must be at least 0 and below the number of features ({d}), got {self.dim}.")
        dim = min(_principal_dim(d), rank // 2) if self.dim is None else min(self.dim, rank)
        return FittedResidual(origin, np.ascontiguousarray(vectors[:, : d - dim]))


@final
@dataclass(frozen=True, eq=False)
class FittedResidual(Fitted):
    """Residual with its origin (d,) and a basis (d, m) of the space outside the subspace."""

    origin: Floats
    basis: Floats

    def expects(self) -> dict[str, int]:
        """What the calibration sample had."""
        return {"features": len(self.origin)}

    def _score(self, outputs: Outputs, /) -> Floats:
        """Minus the norm of the residual."""
        x = features_of(outputs)
        shift = row_products(self.origin[None], self.basis)
        return -np.linalg.norm(row_products(x, self.basis) - shift, axis=1)

    def portable(self, _: Any, features: Any, __: Any, /) -> Any:
        """The same on arrays of any library."""
        return -norms(features @ constant(self.basis, features) - constant(self.origin @ self.basis, features)[None, :])


def _principal_dim(d: int) -> int:
    return 1000 if d >= 2048 else 512 if d >= 768 else d // 2

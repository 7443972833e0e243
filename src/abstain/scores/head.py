"""The last layer: what it makes of features, the norms of its rows, and the distances between them."""

from typing import Self

import numpy as np

from abstain._arrays import Floats
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain._kernels.blocks import row_blocks
from abstain.outputs import Outputs
from abstain.scores.operations import Array, is_constant, products


class Head:
    """The weight (K, d) and bias (K,) of the last layer and what is made of them; a missing bias is zero."""

    def __init__(self, weight: Array, bias: Array | None = None) -> None:
        self.weight, self._bias = weight, bias

    @classmethod
    def of(cls, outputs: Outputs, /) -> Self:
        """The head of outputs, or an error that names it."""
        if outputs.weight is None:
            raise lacking("a head", "weight= and bias=")
        return cls(outputs.weight, outputs.bias)

    @property
    def rows(self) -> Floats:
        """The weight (K, d) in float64, finite."""
        rows = as_numpy(self.weight)
        if rows.ndim != 2 or not np.isfinite(rows).all():
            raise InvalidInputError(f"`weight` must be finite of shape (K, d), got shape {rows.shape}.")
        return rows

    @cached_property
    def bias(self) -> Floats:
        """(K,) in float64."""
        return np.zeros(len(self.weight)) if self._bias is None else as_numpy(self._bias)

    @cached_property
    def _columns(self) -> Floats:
        return np.ascontiguousarray(self.rows.T)

    def logits(self, features: Array, /) -> Array:
        """(n, K) what the last layer makes of features (n, d), in float64."""
        return products(features, self._columns, self.bias)

    @cached_property
    def norms(self) -> Floats:
        """‖w_i‖ (K,)."""
        return np.sqrt(np.square(self.rows).sum(axis=1))

    @cached_property
    def inverse_norms(self) -> Floats:
        """1/‖w_i‖ (K,), none of them infinite."""
        self.check_norms()
        return 1 / self.norms

    def check_norms(self) -> None:
        """An error that names the first row of norm zero, if there is one."""
        if not self.norms.all():
            raise InvalidInputError(
                f"`weight` must have no row of norm zero, got one at class {int(np.argmin(self.norms))}. "
                "The distance to its hyperplane is undefined. Use another score, or leave the class out."
            )

    @cached_property
    def inverse_distances(self) -> Floats:
        """1/‖w_i − w_j‖ (K, K), 0 where the rows are the same.

        ‖w_i‖² + ‖w_j‖² − 2⟨w_i, w_j⟩ by BLAS. Where that is below a thousandth of ‖w_i‖² + ‖w_j‖², it has lost digits,
        and ‖w_i − w_j‖² is summed directly. The relative error is below 10⁻¹².
        """
        w = self.rows
        if is_constant(w):
            raise InvalidInputError("`weight` must have rows that differ, got the same weight for every class.")
        centred = w - w.mean(axis=0)
        squares = np.square(centred).sum(axis=1)
        inverse = np.empty((len(w), len(w)))
        for rows in row_blocks(*inverse.shape):
            sums = squares[rows, None] + squares
            apart = sums - 2 * (centred[rows] @ centred.T)
            close = apart < 1e-3 * sums
            for row in np.flatnonzero(close.any(axis=1)):
                apart[row, close[row]] = np.square(w[close[row]] - w[rows.start + row]).sum(axis=1)
            np.divide(1.0, np.sqrt(apart), out=inverse[rows], where=apart > 0)
            inverse[rows][apart == 0] = 0.0
        return inverse


def lacking(what: str, arguments: str, /) -> InvalidInputError:
    """The error for outputs without an array that a score needs."""
    return InvalidInputError(f"`outputs` must have {what} for this score, got none. Pass {arguments} to Outputs.")


def as_numpy(array: Array, /) -> Floats:
    """A float64 NumPy array from any library, on any device."""
    if hasattr(array, "detach"):
        array = array.detach().cpu().numpy()
    return np.asarray(array, dtype=np.float64)

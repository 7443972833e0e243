"""Scores by what the features have outside their principal subspace: Residual and ViM."""

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain._kernels.features import row_products
from abstain.outputs import Outputs
from abstain.scores.covariance import inverse_of_lower, principal_axes
from abstain.scores.head import Head
from abstain.scores.held_out import unfitted_confidence
from abstain.scores.inputs import Inputs
from abstain.scores.logit_scores import Energy, energy, max_logit
from abstain.scores.operations import Array, constant, double, norms, products
from abstain.scores.samples import features_of, once_per_sample
from abstain.scores.score import About, CannotFitError, Family, FittedScore, Score

WORST = 1e12  # condition of the normal equations


@final
@dataclass(frozen=True)
class Residual(Score):
    r"""Minus the norm of the features outside the principal subspace, :math:`-\|P^\perp (x - u)\|`, u = −W⁺b.

    The subspace is spanned by the top eigenvectors of the second moment of x − u on the fitting sample.

    Parameters
    ----------
    dim : int, optional
        Of the subspace: by default 1000 for 2048 features and more, 512 from 768 on, else half of them, but at most
        half of the rank of the sample, so that the sample itself has a residual.

    References
    ----------
    Wang et al., 2022
    """

    dim: int | None = None

    about = About(
        name="residual",
        symbol="Residual",
        family="feature",
        for_ood=True,
        needs=("features", "head", "fitting"),
        reference="Wang et al., 2022",
        summary="How far the features are from where in-distribution features vary.",
    )

    @once_per_sample
    def _fit(self, sample: Outputs, /) -> "FittedResidual":
        """Find the subspace."""
        head = Head.of(sample)
        origin = -_least_squares(head.rows, head.bias)
        x = features_of(sample).astype(np.float64) - origin
        n, d = x.shape
        if self.dim is not None and not 0 <= self.dim < d:
            raise InvalidInputError(f"`dim` must be at least 0 and below the number of features ({d}), got {self.dim}.")
        values, axes = principal_axes(x)
        rank = int(np.count_nonzero(values > values[0] * max(n, d) * np.finfo(np.float64).eps))
        if rank == 0:
            raise CannotFitError("the features of the fitting sample are all at the origin of the head")
        dim = min(_principal_dim(d), rank // 2) if self.dim is None else min(self.dim, rank)
        if len(axes) == d and not 0 < 3 * dim < d:
            return FittedResidual(origin, np.ascontiguousarray(axes[dim:].T), within=False)
        return FittedResidual(origin, np.ascontiguousarray(axes[:dim].T) if dim else np.zeros((d, 1)), within=True)


@final
@dataclass(frozen=True, eq=False)
class FittedResidual(FittedScore):
    """Residual with its origin (d,) and a basis (d, m) of the space outside the subspace, or within it."""

    origin: Annotated[Floats, "features"]
    basis: Annotated[Floats, "features", None]
    within: bool
    """Whether the basis is that of the subspace, which is narrower: what the features have in it is taken off."""

    @cached_property
    def _shift(self) -> Floats:
        return -row_products(self.origin[None], self.basis)[0]

    @cached_property
    def _back(self) -> Floats:
        return np.ascontiguousarray(self.basis.T)

    def formula(self, inputs: Inputs, /) -> Array:
        """Minus the norm of the residual."""
        along = products(inputs.features, self.basis, self._shift)
        if not self.within:
            return -norms(along)
        x = double(inputs.features)
        return -norms(x - constant(self.origin[None], x) - products(along, self._back))


def _least_squares(weight: Floats, bias: Floats) -> Floats:
    """W⁺b by the normal equations, whose rounding two corrections undo, or by singular values where it is too much."""
    is_tall = len(weight) >= weight.shape[1]
    root = _root_of_inverse(weight.T @ weight if is_tall else weight @ weight.T)
    if root is None:
        tiny = max(weight.shape) * np.finfo(np.float64).eps
        return np.asarray(np.linalg.lstsq(weight, bias, rcond=tiny)[0])
    solution = np.zeros(weight.shape[1])
    for _ in range(3):
        rest = bias - weight @ solution
        more = root.T @ (root @ (weight.T @ rest if is_tall else rest))
        solution += more if is_tall else weight.T @ more
    return solution


def _root_of_inverse(square: Floats) -> NDArray[np.floating] | None:
    """A with AᵀA = square⁻¹, or None where the square is singular or too nearly so."""
    try:
        root = inverse_of_lower(np.linalg.cholesky(square))
    except np.linalg.LinAlgError:
        return None
    return root if np.trace(square) * np.square(root).sum() < WORST else None  # the traces bound the condition


def _principal_dim(d: int) -> int:
    return 1000 if d >= 2048 else 512 if d >= 768 else d // 2


@final
@dataclass(frozen=True)
class ViM(Score):
    r"""Virtual-logit matching, :math:`\log\sum_k e^{z_k} - \alpha\|P^\perp(x - u)\|`.

    α makes the mean residual of the fitting sample, each row scored by a fit on others, as large as its mean largest
    logit.

    Parameters
    ----------
    dim : int, optional
        That of `Residual`; the authors of the selective-classification paper used 64.

    References
    ----------
    Wang et al., 2022
    """

    dim: int | None = None

    about = About(
        name="vim",
        symbol="ViM",
        family="hybrid",
        for_ood=True,
        needs=("logits", "features", "head", "fitting"),
        reference="Wang et al., 2022",
        summary="Energy less a virtual logit for features outside the principal subspace.",
    )

    needs_size = True

    def _fit(self, sample: Outputs, /) -> "FittedViM":
        """Find the subspace and α."""
        residual = Residual(self.dim).fit(sample)
        size = -unfitted_confidence(Residual(self.dim), sample).mean()
        if size <= 1e-9 * np.abs(features_of(sample)).max():
            raise CannotFitError(
                "the fitting sample lies in the principal subspace; give it more rows or a smaller dim"
            )
        largest = float(max_logit(sample.logits).mean())
        if largest <= 0:
            raise CannotFitError("the mean largest logit of the fitting sample is not above zero")
        return FittedViM(residual, largest / float(size), float(energy(sample.logits).mean()), -largest)


@final
@dataclass(frozen=True, eq=False)
class FittedViM(FittedScore):
    """ViM with its residual and α."""

    residual: FittedResidual
    alpha: float
    usual_energy: float
    """The mean of energy on the fitting sample."""
    usual_residual: float
    """The mean of α times the (negative) residual score there."""

    def formula(self, inputs: Inputs, /) -> Array:
        """Energy plus α times the (negative) residual score."""
        of_energy, of_residual = self._parts(inputs)
        return of_energy + of_residual

    def shortfalls(self, inputs: Inputs, /) -> dict[Family, Array]:
        """What energy and the virtual logit lack to their means."""
        of_energy, of_residual = self._parts(inputs)
        return {"logit": self.usual_energy - of_energy, "feature": self.usual_residual - of_residual}

    def _parts(self, inputs: Inputs) -> tuple[Array, Array]:
        """Energy (n,), and α times the (negative) residual score."""
        return Energy().formula(inputs), self.alpha * inputs.confidence(self.residual)

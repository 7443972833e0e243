"""ViM: energy less a virtual logit made of the residual."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.energy import Energy, energy
from abstain.scores.held_out import unfitted_confidence
from abstain.scores.inputs import Inputs
from abstain.scores.max_logit import max_logit
from abstain.scores.residual import FittedResidual, Residual
from abstain.scores.rows import Array
from abstain.scores.samples import features_of
from abstain.scores.score import About, CannotFitError, Family, FittedScore, Score, Sizes
from abstain.scores.size import no_size

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True)
class ViM(Score):
    r"""Virtual-logit matching, :math:`\log\sum_k e^{z_k} - \alpha\|P^\perp(x - u)\|`.

    α makes the mean residual of the fitting sample, each row scored by a fit on others, as large as its mean largest
    logit. ``dim`` is that of `Residual`; the authors of the selective-classification paper used 64. (Wang et al., 2022)
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

    def flaw(self, outputs: Outputs, /) -> str | None:
        """Log-probabilities have lost their size."""
        return no_size(outputs)

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
        return FittedViM(residual, largest / float(size), np.array([energy(sample.logits).mean(), -largest]))

    def shortfalls(self, fitted: Any, inputs: Inputs, /) -> dict[Family, Array]:
        """What energy and the virtual logit lack to their means."""
        of_energy, of_residual = fitted.parts(inputs)
        usual = fitted.usual.tolist()
        return {"logit": usual[0] - of_energy, "feature": usual[1] - of_residual}


@final
@dataclass(frozen=True, eq=False)
class FittedViM(FittedScore):
    """ViM with its residual and α."""

    residual: FittedResidual
    alpha: float
    usual: Floats
    """(2,) the means of energy and of α times the residual score on the fitting sample."""

    def __post_init__(self) -> None:
        if self.usual.shape != (2,):
            raise ValueError(f"`usual` must be (2,), got {self.usual.shape}.")

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return self.residual.expects()

    def formula(self, inputs: Inputs, /) -> Array:
        """Energy plus α times the (negative) residual score."""
        of_energy, of_residual = self.parts(inputs)
        return of_energy + of_residual

    def parts(self, inputs: Inputs, /) -> tuple[Array, Array]:
        """Energy (n,), and α times the (negative) residual score."""
        return Energy().formula(inputs), self.alpha * inputs.confidence(self.residual)

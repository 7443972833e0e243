"""fDBD: mean distance to the decision boundaries, relative to the distance from the mean feature."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.boundaries import boundary_distances
from abstain.scores.inputs import Inputs
from abstain.scores.norms import as_numpy, inverse_distances, is_constant
from abstain.scores.operations import at_least, constant, norms
from abstain.scores.rows import Array
from abstain.scores.samples import features_of, head_of
from abstain.scores.score import About, CannotFitError, FittedScore, Score, Sizes

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True)
class FDBD(Score):
    r"""Mean of :math:`(z_{\hat y} - z_j)/\|w_{\hat y} - w_j\|` over j ≠ ŷ, over :math:`\|x - \mu\|`.

    μ is the mean feature of the fitting sample. Strong under larger shifts of convolutional networks.
    (Liu & Qin, 2024)
    """

    about = About(
        name="fdbd",
        symbol="fDBD",
        family="hybrid",
        for_ood=True,
        needs=("logits", "features", "head", "fitting"),
        reference="Liu & Qin, 2024",
        summary="Mean distance to the decision boundaries over the distance from the mean feature.",
    )

    def _fit(self, sample: Outputs, /) -> "FittedFDBD":
        """Take the mean feature and the distances between the rows of the head."""
        weight, _ = head_of(sample)
        if is_constant(as_numpy(weight)):
            raise CannotFitError("the fitting sample has the same weight for every class")
        return FittedFDBD(features_of(sample).astype(np.float64).mean(axis=0), inverse_distances(weight))


@final
@dataclass(frozen=True, eq=False)
class FittedFDBD(FittedScore):
    """fDBD with its mean feature (d,) and the inverse distances (K, K) between the rows of the head."""

    mean: Floats
    inverse: Floats

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": len(self.mean), "classes": len(self.inverse)}

    def formula(self, inputs: Inputs, /) -> Array:
        """Mean boundary distance over the distance from the mean."""
        apart = norms(inputs.features - constant(self.mean, inputs.features)[None, :])
        return boundary_distances(inputs, self.inverse)[1] / at_least(apart, 1e-12)

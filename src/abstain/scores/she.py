"""SHE: how much the features are like those of correct samples of the predicted class."""

from dataclasses import dataclass
from typing import final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.operations import constant, double
from abstain.scores.rows import Array
from abstain.scores.samples import features_of
from abstain.scores.score import About, CannotFitError, FittedScore, Score, Sizes

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True)
class SHE(Score):
    r"""Simplified Hopfield energy, :math:`\langle x, s_{\hat y} \rangle`, s the mean of the class's correct samples.

    A class without a correct sample in the fitting sample has the mean of all correct ones. (Zhang et al., 2023)
    """

    about = About(
        name="she",
        symbol="SHE",
        family="feature",
        for_ood=True,
        needs=("logits", "features", "fitting", "labels"),
        reference="Zhang et al., 2023",
        summary="How much the features are like those of correct samples of the predicted class.",
    )

    def _fit(self, sample: Outputs, /) -> "FittedSHE":
        """Take the mean feature by class."""
        right = ~sample.errors
        if not right.any():
            raise CannotFitError(f"the fitting sample of {len(sample)} rows has no correct prediction")
        x, y = features_of(sample)[right].astype(np.float64), sample.predictions[right]
        sums = np.zeros((sample.n_classes, x.shape[1]))
        np.add.at(sums, y, x)
        count = np.bincount(y, minlength=sample.n_classes)[:, None]
        return FittedSHE(np.where(count > 0, sums / np.maximum(count, 1), x.mean(axis=0)[None, :]))


@final
@dataclass(frozen=True, eq=False)
class FittedSHE(FittedScore):
    """SHE with the mean features (K, d)."""

    means: Floats

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": self.means.shape[1], "classes": self.means.shape[0]}

    def formula(self, inputs: Inputs, /) -> Array:
        """The product with the mean of the predicted class."""
        x = double(inputs.features)
        xp = array_namespace(x)
        return xp.sum(x * xp.take(constant(self.means, x), inputs.predictions, axis=0), axis=1)

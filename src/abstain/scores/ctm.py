"""CTM: the largest cosine between the features and the mean of a class."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.mahalanobis import class_means
from abstain.scores.operations import normalized, products
from abstain.scores.rows import Array
from abstain.scores.samples import labelled_features
from abstain.scores.score import About, FittedScore, Score, Sizes


@final
@dataclass(frozen=True)
class CTM(Score):
    r"""Class-typical matching, :math:`\max_c \cos(x, \mu_c)`, with the class means of the fitting sample.

    Classes that are not in it are passed over, and a row of zeros has a cosine of 0. (Ngoc-Hieu et al., 2023)
    """

    about = About(
        name="ctm",
        symbol="CTM",
        family="feature",
        for_ood=True,
        needs=("features", "fitting", "labels"),
        reference="Ngoc-Hieu et al., 2023",
        summary="The largest cosine between the features and the mean of a class.",
    )

    def _fit(self, sample: Outputs, /) -> "FittedCTM":
        """Take the direction of each class mean."""
        x, labels = labelled_features(sample)
        means, _ = class_means(x.astype(np.float64), labels)
        return FittedCTM(normalized(means, np.dtype(np.float64 if x.dtype.itemsize > 4 else np.float32)))


@final
@dataclass(frozen=True, eq=False)
class FittedCTM(FittedScore):
    """CTM with the directions (c, d) of its class means, rounded as the features were."""

    means: NDArray[Any]

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": self.means.shape[1]}

    def formula(self, inputs: Inputs, /) -> Array:
        """The largest cosine."""
        cosines = products(inputs.units("features", self.means), np.ascontiguousarray(self.means.T, dtype=np.float64))
        return array_namespace(cosines).max(cosines, axis=1)

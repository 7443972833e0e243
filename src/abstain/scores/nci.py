"""NCI: whether the features point where the weight of the predicted class does, and how large they are."""

from dataclasses import dataclass
from typing import final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.feature_norm import FeatureNorm
from abstain.scores.inputs import Inputs
from abstain.scores.operations import at_least, constant, norms
from abstain.scores.rows import Array
from abstain.scores.samples import head_of, mean_feature
from abstain.scores.score import About, FittedScore, Score, Sizes
from abstain.scores.size import no_size

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True)
class NCI(Score):
    r"""Neural-collapse inspired, :math:`w_{\hat y} \cdot (x - \mu)/\|x - \mu\| + \alpha \|x\|_1`.

    μ is the mean feature of the fitting sample. As :math:`w_{\hat y} \cdot x = z_{\hat y} - b_{\hat y}`, it costs no
    product with the head. (Liu & Qin, 2025)
    """

    alpha: float = 0.001

    about = About(
        name="nci",
        symbol="NCI",
        family="hybrid",
        for_ood=True,
        needs=("logits", "features", "head", "fitting"),
        reference="Liu & Qin, 2025",
        summary="Whether the features point where the weight of the predicted class does, and how large they are.",
    )

    def flaw(self, outputs: Outputs, /) -> str | None:
        """Log-probabilities are not what the head made."""
        return no_size(outputs)

    def _fit(self, sample: Outputs, /) -> "FittedNCI":
        """Take the mean feature and what the head makes of it."""
        weight, bias = head_of(sample)
        mean = mean_feature(sample)
        return FittedNCI(mean, weight @ mean + bias, self.alpha)


@final
@dataclass(frozen=True, eq=False)
class FittedNCI(FittedScore):
    """NCI with the mean feature (d,), its logits (K,) and α."""

    mean: Floats
    logits: Floats
    alpha: float

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": len(self.mean), "classes": len(self.logits)}

    def formula(self, inputs: Inputs, /) -> Array:
        """The largest logit less that of the mean, over the distance from it, and the norm."""
        rows, x = inputs.sums(), inputs.features
        apart = norms(x - constant(self.mean, x)[None, :])
        usual = array_namespace(apart).take(constant(self.logits, apart), rows.prediction, axis=0)
        return (rows.top - usual) / at_least(apart, 1e-12) + self.alpha * FeatureNorm().formula(inputs)

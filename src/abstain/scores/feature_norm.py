"""Scores by the size and direction of the features: their norm, and NCI."""

from dataclasses import dataclass
from typing import Annotated, final

from abstain._arrays import Floats
from abstain.outputs import Outputs
from abstain.scores.head import Head
from abstain.scores.inputs import Inputs
from abstain.scores.operations import Array, array_namespace, at_least, constant, double, norms
from abstain.scores.samples import mean_feature
from abstain.scores.score import About, FittedScore, PlainScore, Score


@final
@dataclass(frozen=True)
class FeatureNorm(PlainScore):
    r"""The sum of the sizes of the features, :math:`\|x\|_1`.

    Unknown classes excite networks less. The usual companion of softmax in `SIRC`.

    References
    ----------
    Xia & Bouganis, 2022
    """

    about = About(
        name="feature_norm",
        symbol="‖x‖₁",
        family="feature",
        for_ood=True,
        needs=("features",),
        reference="Xia & Bouganis, 2022",
        summary="The norm of the features, which unknown classes excite less.",
    )

    def formula(self, inputs: Inputs, /) -> Array:
        """The norm."""
        x = double(inputs.features)
        xp = array_namespace(x)
        return xp.sum(xp.abs(x), axis=1)


@final
@dataclass(frozen=True)
class NCI(Score):
    r"""Neural-collapse inspired, :math:`w_{\hat y} \cdot (x - \mu)/\|x - \mu\| + \alpha \|x\|_1`.

    μ is the mean feature of the fitting sample. As :math:`w_{\hat y} \cdot x = z_{\hat y} - b_{\hat y}`, it needs no
    product with the head.

    Parameters
    ----------
    alpha : float
        Weight of the norm.

    References
    ----------
    Liu & Qin, 2025
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

    needs_size = True

    def _fit(self, sample: Outputs, /) -> "FittedNCI":
        """Take the mean feature and what the head makes of it."""
        head, mean = Head.of(sample), mean_feature(sample)
        return FittedNCI(mean, head.rows @ mean + head.bias, self.alpha)


@final
@dataclass(frozen=True, eq=False)
class FittedNCI(FittedScore):
    """NCI with the mean feature (d,), its logits (K,) and α."""

    mean: Annotated[Floats, "features"]
    logits: Annotated[Floats, "classes"]
    alpha: float

    def formula(self, inputs: Inputs, /) -> Array:
        """The largest logit less that of the mean, over the distance from it, and the norm."""
        rows, x = inputs.sums(), inputs.features
        apart = norms(x - constant(self.mean, x)[None, :])
        usual = array_namespace(apart).take(constant(self.logits, apart), rows.prediction, axis=0)
        return (rows.top - usual) / at_least(apart, 1e-12) + self.alpha * FeatureNorm().formula(inputs)

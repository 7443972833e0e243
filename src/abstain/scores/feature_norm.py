"""The norm of the features."""

from dataclasses import dataclass
from typing import final

from array_api_compat import array_namespace

from abstain.scores.inputs import Inputs
from abstain.scores.operations import double, norms
from abstain.scores.rows import Array
from abstain.scores.score import About, PlainScore


@final
@dataclass(frozen=True)
class FeatureNorm(PlainScore):
    r"""The norm of the features, :math:`\|x\|_1`, or :math:`\|x\|_2` with ``order=2``.

    Unknown classes excite networks less. The usual companion of softmax in `SIRC`. (Xia & Bouganis, 2022)
    """

    order: int = 1

    about = About(
        name="feature_norm",
        symbol="‖x‖₁",
        family="feature",
        for_ood=True,
        needs=("features",),
        reference="Xia & Bouganis, 2022",
        summary="The norm of the features, which unknown classes excite less.",
    )

    def __post_init__(self) -> None:
        if self.order not in (1, 2):
            raise ValueError(f"`order` must be 1 or 2, got {self.order}.")

    def formula(self, inputs: Inputs, /) -> Array:
        """The norm."""
        x = double(inputs.features)
        xp = array_namespace(x)
        return norms(x) if self.order == 2 else xp.sum(xp.abs(x), axis=1)

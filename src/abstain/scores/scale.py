"""SCALE: a logit score after scaling each sample by how much of it is in its largest features."""

from dataclasses import dataclass
from typing import final

from abstain.outputs import Outputs
from abstain.scores.ash import check_pruned, sharpening
from abstain.scores.inputs import Inputs
from abstain.scores.operations import constant, double
from abstain.scores.reshaped import ENERGY
from abstain.scores.rows import Array
from abstain.scores.score import About, PlainScore
from abstain.scores.size import no_size


@final
@dataclass(frozen=True)
class SCALE(PlainScore):
    r"""A logit score of all features times :math:`e^{\Sigma x / \Sigma_{top} x}`, the top without a ``pruned`` share.

    ASH without the pruning. The head is linear, so it is that of f(z − b) + b. (Xu et al., 2024)
    """

    pruned: float = 0.85
    score: PlainScore = ENERGY

    about = About(
        name="scale",
        symbol="SCALE",
        family="hybrid",
        for_ood=True,
        needs=("logits", "features", "head"),
        reference="Xu et al., 2024",
        summary="A logit score after scaling each sample by how little of it is in its largest features.",
    )
    uses_head = True

    def __post_init__(self) -> None:
        check_pruned(self.pruned)

    def flaw(self, outputs: Outputs, /) -> str | None:
        """Log-probabilities are not what the head made."""
        return no_size(outputs)

    def formula(self, inputs: Inputs, /) -> Array:
        """The score of the scaled logits."""
        factor, _ = sharpening(inputs, self.pruned)
        bias = constant(inputs.head.bias, factor)[None, :]
        logits = factor[:, None] * (double(inputs.logits) - bias) + bias
        return self.score.formula(Inputs(logits, None, inputs.head if self.score.uses_head else None))

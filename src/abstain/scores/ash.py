"""ASH: a logit score after pruning the small features and scaling up the others."""

from dataclasses import dataclass
from typing import final

from array_api_compat import array_namespace

from abstain.scores.inputs import Inputs
from abstain.scores.operations import at_least, double
from abstain.scores.reshaped import ENERGY, score_of
from abstain.scores.rows import Array
from abstain.scores.score import About, PlainScore


@final
@dataclass(frozen=True)
class ASH(PlainScore):
    r"""A logit score of :math:`x_j e^{\Sigma x / \Sigma_{top} x}` for the largest features, 0 for the ``pruned`` share.

    This is ASH-S. Features that tie with the smallest one kept are kept too. The prediction stays that of the
    classifier's own logits. (Djurisic et al., 2023)
    """

    pruned: float = 0.9
    score: PlainScore = ENERGY

    about = About(
        name="ash",
        symbol="ASH-S",
        family="hybrid",
        for_ood=True,
        needs=("features", "head"),
        reference="Djurisic et al., 2023",
        summary="A logit score after pruning the small features of each sample and scaling up the others.",
    )
    uses_head = True

    def __post_init__(self) -> None:
        check_pruned(self.pruned)

    def formula(self, inputs: Inputs, /) -> Array:
        """The score of the logits of the features that are left."""
        factor, smallest = sharpening(inputs, self.pruned)
        x = double(inputs.features)
        left = array_namespace(x).where(x >= smallest[:, None], x * factor[:, None], 0.0)
        return score_of(self.score, left, inputs.head)


def check_pruned(pruned: float, /) -> None:
    """A share up to 0.99, so that the factor cannot overflow."""
    if not 0 <= pruned <= 0.99:
        raise ValueError(f"`pruned` must be between 0 and 0.99, got {pruned}.")


def sharpening(inputs: Inputs, pruned: float, /) -> tuple[Array, Array]:
    """The factor e^{Σx/Σ_top} (n,) and the smallest of the top features (n,), all but a ``pruned`` share of them.

    The ratio is at most the number of features over that of the top ones as long as Σ_top is above zero. Only features
    that are not rectified can make it otherwise; Σx is then below zero as well, and the factor goes to zero as it does
    where Σ_top comes near zero from above.
    """
    ordered = double(inputs.sorted_features)
    xp = array_namespace(ordered)
    d = inputs.head.weight.shape[1]
    first = min(round(d * pruned), d - 1)
    ratio = xp.sum(ordered, axis=1) / at_least(xp.sum(ordered[:, first:], axis=1), 1e-12)
    return xp.exp(at_least(ratio, -700.0)), ordered[:, first]

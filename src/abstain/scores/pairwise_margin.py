"""Pairwise margin: the distance in feature space to the nearest decision boundary."""

from dataclasses import dataclass
from typing import final

from abstain.outputs import Outputs
from abstain.scores.boundaries import boundary_distances
from abstain.scores.inputs import Head, Inputs
from abstain.scores.norms import as_numpy, is_constant
from abstain.scores.of_logits import of_logits
from abstain.scores.rows import Array
from abstain.scores.score import About, PlainScore


def pairwise_margin(logits: Array, weight: Array, /) -> Array:
    r"""Distance to the nearest decision boundary, :math:`\min_{j\ne\hat y} (z_{\hat y} - z_j)/\|w_{\hat y} - w_j\|`.

    It is what the robustness radius of a linear head means, and does not depend on the scale of the head. Classes with
    the same weight as the prediction have no boundary with it and are passed over. (Crammer & Singer, 2001)

    >>> W, z = np.array([[1.0, 2, 2], [0, 3, 4], [2, 0, 0]]), np.array([[4.5, 4.0, 2.25]])
    >>> pairwise_margin(z, W).round(6)
    array([0.204124])
    """
    return of_logits({"margin": PairwiseMargin().formula}, logits, Head(weight))["margin"]


@final
@dataclass(frozen=True)
class PairwiseMargin(PlainScore):
    """The pairwise margin as a score: see `pairwise_margin`."""

    about = About(
        name="pairwise_margin",
        symbol="RL_pair-M",
        family="margin",
        needs=("logits", "head"),
        reference="Crammer & Singer, 2001",
        summary="The distance to the nearest decision boundary of the last layer.",
    )
    uses_head = True

    def flaw(self, outputs: Outputs, /) -> str | None:
        """Classes that all have the same weight have no boundary."""
        return "the same weight for every class" if is_constant(as_numpy(outputs.weight)) else None

    def formula(self, inputs: Inputs, /) -> Array:
        """The smallest of the distances."""
        return boundary_distances(inputs, inputs.head.inverse_distances)[0]

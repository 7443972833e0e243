"""RL_geo-M: the gap between signed distances to the hyperplanes of the last layer."""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from abstain.names import check_name
from abstain.outputs import Outputs
from abstain.scores.inputs import Head, Inputs
from abstain.scores.namespace import array_namespace
from abstain.scores.norms import as_numpy, row_norms
from abstain.scores.of_logits import of_logits
from abstain.scores.rows import Array
from abstain.scores.score import About, PlainScore
from abstain.scores.size import no_size


def geometric_margin(
    logits: Array,
    weight: Array,
    /,
    *,
    bias: Array | None = None,
    convention: Literal["paper", "paper_code"] = "paper",
    smallest_norm: float = 0.0,
) -> Array:
    r"""Geometric margin :math:`d_{\hat y} - \max_{j \ne \hat y} d_j`, with :math:`d_j = z_j / \|w_j\|` (RL_geo-M).

    Signed against the classifier's own prediction, so it is negative exactly where the largest distance
    belongs to another class: ``(geometric_margin(z, W) < 0).mean()`` is how often the two argmaxes differ.
    With ``convention="paper_code"`` it is what the authors' code computes: norms of the rows of [W, b], and the gap
    of the two largest distances whichever class they belong to. Norms below ``smallest_norm`` are raised
    to it; a norm of zero is an error. (Liang et al., 2024)

    >>> W, z = np.array([[1.0, 2, 2], [0, 3, 4], [2, 0, 0]]), np.array([[4.5, 4.0, 2.25]])
    >>> geometric_margin(z, W)
    array([0.375])
    >>> geometric_margin(z, W, bias=np.array([0.5, -1, 0.25]), convention="paper_code").round(6)
    array([0.363278])
    """
    if convention == "paper":
        return of_logits({"margin": GeometricMargin().formula}, logits, Head(weight, smallest_norm=smallest_norm))[
            "margin"
        ]
    check_name("convention", convention, ("paper", "paper_code"), rule="be 'paper' or 'paper_code'")
    if bias is None:
        raise ValueError("`bias` must be given for convention='paper_code', got none.")
    scale = 1 / row_norms(weight, bias, smallest=smallest_norm)

    def gap(inputs: Inputs) -> Array:
        xp = array_namespace(inputs.logits)
        dtype = xp.float64 if isinstance(inputs.logits, np.ndarray) else inputs.logits.dtype
        distances = inputs.logits * xp.asarray(scale, dtype=dtype, device=device(inputs.logits))[None, :]
        return Inputs(distances).sums().margin

    return of_logits({"gap": gap}, logits)["gap"]


@final
@dataclass(frozen=True)
class GeometricMargin(PlainScore):
    """RL_geo-M as a score: see `geometric_margin`."""

    about = About(
        name="geometric_margin",
        symbol="RL_geo-M",
        family="margin",
        is_well_known=True,
        needs=("logits", "head"),
        reference="Liang et al., 2024",
        summary="The gap between signed distances to the hyperplanes of the last layer.",
    )
    uses_head = True

    def flaw(self, outputs: Outputs, /) -> str | None:
        """A class without a weight has no distance, and log-probabilities are none."""
        zero = np.flatnonzero(~np.any(as_numpy(outputs.weight), axis=1))
        return f"a weight of norm zero at class {zero[0]}" if zero.size else no_size(outputs)

    def formula(self, inputs: Inputs, /) -> Array:
        """The margin of the logits scaled by 1/‖wⱼ‖."""
        return inputs.scaled_margin

    def note(self, confidence: NDArray[np.float64], /) -> str | None:
        """How often the two argmaxes differ."""
        differ = np.nanmean(confidence < 0)
        return f"The largest distance belongs to another class than the largest logit in {differ:.2%} of the rows."

"""RL_conf-M: the gap between the two largest logits."""

from dataclasses import dataclass
from typing import final

from abstain.scores.rows import Array, Rows
from abstain.scores.score import About
from abstain.scores.sums_score import SumsScore


def confidence_margin(logits: Array, /) -> Array:
    r"""Gap between the two largest logits, :math:`z^{(1)} - z^{(2)}` (RL_conf-M).

    Multiplying the logits by any positive number leaves its order as it is, unlike softmax scores, which all
    tend to it as the logits grow. The paper's proposal. (Liang et al., 2024)

    >>> confidence_margin(np.array([[2.0, 1.0, 0.1, -1.0]]))
    array([1.])
    """
    return ConfidenceMargin().of(logits)


@final
@dataclass(frozen=True)
class ConfidenceMargin(SumsScore):
    """RL_conf-M as a score: see `confidence_margin`."""

    about = About(
        name="confidence_margin",
        symbol="RL_conf-M",
        family="margin",
        is_well_known=True,
        needs=("logits",),
        reference="Liang et al., 2024",
        summary="The gap between the two largest logits, free of their scale.",
    )

    def from_sums(self, rows: Rows, /) -> Array:
        """z₁ − z₂."""
        return rows.margin

"""RL_max: the largest logit."""

from dataclasses import dataclass
from typing import final

from abstain.outputs import Outputs
from abstain.scores.rows import Array, Rows
from abstain.scores.score import About
from abstain.scores.size import no_size
from abstain.scores.sums_score import SumsScore


def max_logit(logits: Array, /) -> Array:
    r"""The largest logit :math:`z_1` (RL_max).

    Made to find unknown classes; a weak guard against plain mistakes. (Hendrycks et al., 2022)

    >>> max_logit(np.array([[2.0, 1.0, 0.1, -1.0]]))
    array([2.])
    """
    return MaxLogit().of(logits)


@final
@dataclass(frozen=True)
class MaxLogit(SumsScore):
    """RL_max as a score: see `max_logit`."""

    about = About(
        name="max_logit",
        symbol="RL_max",
        family="logit",
        for_ood=True,
        needs=("logits",),
        reference="Hendrycks et al., 2022",
        summary="The largest logit: made to find unknown classes.",
    )

    def flaw(self, outputs: Outputs, /) -> str | None:
        """Log-probabilities have lost their size."""
        return no_size(outputs)

    def from_sums(self, rows: Rows, /) -> Array:
        """z₁."""
        return rows.top

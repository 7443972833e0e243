"""RL_max: the largest logit."""

from abstain.kernels.rows import RowSums
from abstain.scores.rows import Array, logit_rows
from abstain.scores.score import LogitScore
from abstain.scores.size import no_size


def max_logit(logits: Array, /) -> Array:
    r"""The largest logit :math:`z_1` (RL_max).

    Made to find unknown classes; a weak guard against plain mistakes. (Hendrycks et al., 2022)

    >>> max_logit(np.array([[2.0, 1.0, 0.1, -1.0]]))
    array([2.])
    """
    return from_rows(logit_rows(logits))


def from_rows(rows: RowSums, /) -> Array:
    """z₁."""
    return rows.top


MAX_LOGIT = LogitScore(
    name="max_logit",
    symbol="RL_max",
    family="logit",
    needs=("logits",),
    reference="Hendrycks et al., 2022",
    formula=from_rows,
    flaw=no_size,
)

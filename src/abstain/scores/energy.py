"""The free energy of the logits."""

from array_api_compat import array_namespace

from abstain.kernels.rows import RowSums
from abstain.scores.rows import Array, logit_rows
from abstain.scores.score import LogitScore
from abstain.scores.size import no_size


def energy(logits: Array, /, *, temperature: float = 1.0) -> Array:
    r"""Free energy :math:`T \log \sum_k e^{z_k/T}` (Liu et al., 2020), a smooth maximum of the logits.

    It keeps the size of the logits, which helps against unknown classes and hurts against plain mistakes.

    >>> energy(np.array([[0.0, 0.0], [2.0, 0.0]])).round(2)
    array([0.69, 2.13])
    """
    return temperature * from_rows(logit_rows(logits, temperature=temperature))


def from_rows(rows: RowSums, /) -> Array:
    """z₁ + log1p(e^L)."""
    xp = array_namespace(rows.tail)
    return rows.top + xp.log1p(xp.exp(rows.tail))


ENERGY = LogitScore(
    name="energy",
    symbol="Energy",
    family="logit",
    needs=("logits",),
    reference="Liu et al., 2020",
    formula=from_rows,
    flaw=no_size,
)

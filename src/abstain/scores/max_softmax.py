"""SR_max: the largest softmax probability."""

from array_api_compat import array_namespace

from abstain.kernels.rows import RowSums
from abstain.scores.rows import Array, logit_rows
from abstain.scores.score import LogitScore


def max_softmax(logits: Array, /, *, temperature: float = 1.0) -> Array:
    r"""Log-odds of the largest softmax probability, :math:`z_1 - \log\sum_{j \ne i^*} e^{z_j}` (SR_max).

    The default confidence of most practice. It depends on the scale of the logits. The log-odds rank as the
    probability does, and still tell 1 − 1e-30 from 1 − 1e-40; the registry's ``literal`` gives the probability.
    (Hendrycks & Gimpel, 2017)

    >>> max_softmax(np.array([[2.0, 1.0, 0.1, -1.0], [120.0, 10.0, 9.0, -3.0]])).round(6)
    array([  0.566981, 109.686737])
    """
    return from_rows(logit_rows(logits, temperature=temperature))


def from_rows(rows: RowSums, /) -> Array:
    """−L."""
    return -rows.tail


def literal(confidence: Array, /) -> Array:
    """The probability itself, 1 / (1 + e^−c)."""
    return 1 / (1 + array_namespace(confidence).exp(-confidence))


MAX_SOFTMAX = LogitScore(
    name="max_softmax",
    symbol="SR_max",
    family="softmax",
    needs=("logits",),
    reference="Hendrycks & Gimpel, 2017",
    formula=from_rows,
    literal=literal,
)

"""SR_max: the largest softmax probability."""

from dataclasses import dataclass
from typing import final

from abstain.scores.namespace import array_namespace
from abstain.scores.rows import Array, Rows
from abstain.scores.score import About
from abstain.scores.sums_score import SumsScore


def max_softmax(logits: Array, /, *, temperature: float = 1.0) -> Array:
    r"""Log-odds of the largest softmax probability, :math:`z_1 - \log\sum_{j \ne i^*} e^{z_j}` (SR_max).

    The default confidence of most practice. It depends on the scale of the logits. The log-odds rank as the
    probability does, and still tell 1 − 1e-30 from 1 − 1e-40; the registry's ``literal`` gives the probability.
    (Hendrycks & Gimpel, 2017)

    >>> max_softmax(np.array([[2.0, 1.0, 0.1, -1.0], [120.0, 10.0, 9.0, -3.0]])).round(6)
    array([  0.566981, 109.686737])
    """
    return MaxSoftmax().of(logits, temperature=temperature)


@final
@dataclass(frozen=True)
class MaxSoftmax(SumsScore):
    """SR_max as a score: see `max_softmax`."""

    about = About(
        name="max_softmax",
        symbol="SR_max",
        family="softmax",
        is_well_known=True,
        needs=("logits",),
        reference="Hendrycks & Gimpel, 2017",
        summary="The largest softmax probability: what most people use.",
    )

    def literal(self, confidence: Array, /) -> Array:
        """The probability itself, 1 / (1 + e^−c)."""
        return 1 / (1 + array_namespace(confidence).exp(-confidence))

    def from_sums(self, rows: Rows, /) -> Array:
        """−L."""
        return -rows.tail

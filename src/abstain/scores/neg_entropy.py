"""SR_ent: the negative entropy of the softmax."""

from dataclasses import dataclass
from typing import final

from abstain.scores.namespace import array_namespace
from abstain.scores.rows import Array, Rows
from abstain.scores.score import About, minus_exp
from abstain.scores.sums_score import SumsScore


def neg_entropy(logits: Array, /, *, temperature: float = 1.0) -> Array:
    r"""Minus log entropy, :math:`-\log H(\sigma)`, which ranks as :math:`\sum\sigma\log\sigma` (SR_ent).

    It punishes probability spread over many classes. The log form keeps the tiny entropies of confident rows.

    >>> neg_entropy(np.array([[2.0, 1.0, 0.1, -1.0], [30.0, 5.0, 4.0, 0.0]])).round(6)
    array([ 0.040121, 21.412555])
    """
    return NegEntropy().of(logits, temperature=temperature)


@final
@dataclass(frozen=True)
class NegEntropy(SumsScore):
    """SR_ent as a score: see `neg_entropy`."""

    about = About(
        name="neg_entropy",
        symbol="SR_ent",
        family="softmax",
        needs=("logits",),
        reference="Liang et al., 2024",
        summary="Minus the entropy of the softmax.",
    )

    def literal(self, confidence: Array, /) -> Array:
        """−e^−c."""
        return minus_exp(confidence)

    def from_sums(self, rows: Rows, /) -> Array:
        """−[L + ln(log1p(A)/A + gap/(1 + A))] with A = e^L."""
        xp = array_namespace(rows.tail)
        odds = rows.odds
        per_odds = xp.where(odds > 0, rows.log_total / xp.where(odds > 0, odds, 1.0), 1.0)
        return -(rows.tail + xp.log(per_odds + rows.gap / (1 + odds)))

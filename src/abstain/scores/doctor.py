"""SR_doctor: the collision probability of two draws from the softmax."""

from dataclasses import dataclass
from typing import final

from abstain.scores.namespace import array_namespace
from abstain.scores.rows import Array, Rows
from abstain.scores.score import About, minus_exp
from abstain.scores.sums_score import SumsScore


def doctor(logits: Array, /, *, temperature: float = 1.0) -> Array:
    r"""DOCTOR, :math:`-\log(1/\|\sigma\|_2^2 - 1)`, which ranks as :math:`1 - 1/\|\sigma\|_2^2` (SR_doctor).

    It looks at all probabilities, not the largest alone. The log form has no cancellation near certainty. This is the
    α form; the β form, (1 − p_max)/p_max, ranks as `max_softmax`.
    (Granese et al., 2021)

    >>> doctor(np.array([[2.0, 1.0, 0.1, -1.0], [30.0, 5.0, 4.0, 0.0]])).round(6)
    array([-0.110735, 23.988677])
    """
    return Doctor().of(logits, temperature=temperature)


@final
@dataclass(frozen=True)
class Doctor(SumsScore):
    """SR_doctor as a score: see `doctor`."""

    about = About(
        name="doctor",
        symbol="SR_doctor",
        family="softmax",
        needs=("logits",),
        reference="Granese et al., 2021",
        summary="How likely two draws from the softmax are to agree.",
    )

    def literal(self, confidence: Array, /) -> Array:
        """−e^−c."""
        return minus_exp(confidence)

    def from_sums(self, rows: Rows, /) -> Array:
        """−[L + ln(2 + A − ρ) − log1p(Aρ)] with A = e^L and ρ = Σe^{2d}/Σe^d ≤ 1."""
        xp = array_namespace(rows.tail)
        return xp.log1p(rows.odds * rows.ratio) - (rows.tail + xp.log(2 + rows.odds - rows.ratio))

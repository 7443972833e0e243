"""All logit scores in one pass over the logits."""

from abstain.scores.confidence_margin import CONFIDENCE_MARGIN
from abstain.scores.doctor import DOCTOR
from abstain.scores.energy import ENERGY
from abstain.scores.geometric_margin import GEOMETRIC_MARGIN
from abstain.scores.max_logit import MAX_LOGIT
from abstain.scores.max_softmax import MAX_SOFTMAX
from abstain.scores.neg_entropy import NEG_ENTROPY
from abstain.scores.norms import row_norms
from abstain.scores.rows import Array, logit_rows

LOGIT_SCORES = (MAX_SOFTMAX, DOCTOR, NEG_ENTROPY, MAX_LOGIT, ENERGY, CONFIDENCE_MARGIN, GEOMETRIC_MARGIN)


def logit_scores(logits: Array, weight: Array | None = None, /) -> dict[str, Array]:
    """Confidence of every logit score, by name; the geometric margin only when ``weight`` (K, d) is given.

    >>> scores = logit_scores(np.array([[2.0, 1.0, 0.1, -1.0]]))
    >>> {name: round(float(confidence[0]), 4) for name, confidence in scores.items()}
    {'max_softmax': 0.567, 'doctor': -0.1107, 'neg_entropy': 0.0401, 'max_logit': 2.0,
     'energy': 2.4493, 'confidence_margin': 1.0}
    """
    rows = logit_rows(logits, scale=None if weight is None else 1 / row_norms(weight))
    return {
        score.name: score.formula(rows) for score in LOGIT_SCORES if weight is not None or "head" not in score.needs
    }

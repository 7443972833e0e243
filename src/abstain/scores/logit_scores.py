"""All logit scores in one pass over the logits."""

from abstain.scores.confidence_margin import ConfidenceMargin
from abstain.scores.doctor import Doctor
from abstain.scores.energy import Energy
from abstain.scores.geometric_margin import GeometricMargin
from abstain.scores.inputs import Head
from abstain.scores.max_logit import MaxLogit
from abstain.scores.max_softmax import MaxSoftmax
from abstain.scores.neg_entropy import NegEntropy
from abstain.scores.of_logits import of_logits
from abstain.scores.rows import Array

LOGIT_SCORES = (
    MaxSoftmax(),
    Doctor(),
    NegEntropy(),
    MaxLogit(),
    Energy(),
    ConfidenceMargin(),
    GeometricMargin(),
)


def logit_scores(logits: Array, weight: Array | None = None, /) -> dict[str, Array]:
    """Confidence of every logit score, by name; the geometric margin only when ``weight`` (K, d) is given.

    >>> scores = logit_scores(np.array([[2.0, 1.0, 0.1, -1.0]]))
    >>> {name: round(float(confidence[0]), 4) for name, confidence in scores.items()}
    {'max_softmax': 0.567, 'doctor': -0.1107, 'neg_entropy': 0.0401, 'max_logit': 2.0,
     'energy': 2.4493, 'confidence_margin': 1.0}
    """
    scores = [score for score in LOGIT_SCORES if weight is not None or "head" not in score.needs]
    return of_logits({score.name: score.formula for score in scores}, logits, None if weight is None else Head(weight))

"""Confidence scores: higher = more trusted."""

from abstain.scores.binary_logits import binary_logits
from abstain.scores.confidence_margin import confidence_margin
from abstain.scores.confidences import confidences
from abstain.scores.doctor import doctor
from abstain.scores.energy import energy
from abstain.scores.geometric_margin import geometric_margin
from abstain.scores.logit_scores import LOGIT_SCORES, logit_scores
from abstain.scores.max_logit import max_logit
from abstain.scores.max_softmax import max_softmax
from abstain.scores.neg_entropy import neg_entropy
from abstain.scores.score import Score

SCORES: dict[str, Score] = {score.name: score for score in LOGIT_SCORES}
"""Every score by name; the command, the evaluation, the report and the contract tests read it."""

__all__ = [
    "SCORES",
    "Score",
    "binary_logits",
    "confidence_margin",
    "confidences",
    "doctor",
    "energy",
    "geometric_margin",
    "logit_scores",
    "max_logit",
    "max_softmax",
    "neg_entropy",
]

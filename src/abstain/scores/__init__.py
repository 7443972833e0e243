"""Confidence scores: higher = more trusted.

To add one: write its file, import it here, and put it into the table; tests/scores/test_contract.py then tests it, and
the command, the report and the docs have it.
"""

from abstain.scores.boundaries import FDBD, PairwiseMargin, pairwise_margin
from abstain.scores.class_templates import CTM, SHE, KLMatching
from abstain.scores.confidences import confidences
from abstain.scores.expected_cost import ExpectedCost
from abstain.scores.feature_norm import NCI, FeatureNorm
from abstain.scores.gen import GEN, gen
from abstain.scores.geometric_margin import GeometricMargin, geometric_margin, geometric_rule
from abstain.scores.inputs import Inputs
from abstain.scores.learned import Learned
from abstain.scores.logit_scores import (
    LOGIT_SCORES,
    ConfidenceMargin,
    Doctor,
    Energy,
    MaxLogit,
    MaxSoftmax,
    NegEntropy,
    confidence_margin,
    doctor,
    energy,
    logit_scores,
    max_logit,
    max_softmax,
    neg_entropy,
)
from abstain.scores.mahalanobis import MDS, RMDS, DeltaMDS
from abstain.scores.margin_mix import MarginMix
from abstain.scores.max_logit_pnorm import MaxLogitPNorm, max_logit_pnorm
from abstain.scores.neighbours import KNN, DeltaKNN, NNGuide
from abstain.scores.other_head import DICE, PCA, RAS
from abstain.scores.registry import SCORES, as_score, as_scores
from abstain.scores.reshaped_features import ASH, SCALE, ReAct
from abstain.scores.residual import Residual, ViM
from abstain.scores.rows import binary_logits
from abstain.scores.score import About, CannotFitError, FittedScore, PlainScore, Score
from abstain.scores.sirc import SIRC
from abstain.scores.state import from_state, to_state
from abstain.scores.temperature import TemperatureScaled

PAPER: tuple[Score, ...] = (*LOGIT_SCORES, KNN(), KNN(space="logits"), ViM(), SIRC())
AFTER_THE_PAPER: tuple[Score, ...] = (
    PairwiseMargin(),
    GEN(),
    MaxLogitPNorm(),
    TemperatureScaled(MaxSoftmax()),
    TemperatureScaled(Doctor()),
    TemperatureScaled(NegEntropy()),
    Residual(),
    ReAct(),
    ASH(),
    SCALE(),
    DICE(),
    RAS(),
    PCA(),
    FDBD(),
    NCI(),
    NNGuide(),
    KLMatching(),
    SHE(),
    CTM(),
    FeatureNorm(),
    MDS(),
    MDS(normalize=True),
    RMDS(),
    RMDS(normalize=True),
    DeltaMDS(),
    DeltaKNN(),
    MarginMix(DeltaMDS()),
    MarginMix(DeltaKNN()),
)
EXPECTED_COST = ExpectedCost()
"""Not among `SCORES`: it depends on given costs, and with equal ones it ranks as ts_max_softmax does."""
LEARNED = Learned(
    (MaxSoftmax(), TemperatureScaled(MaxSoftmax()), ConfidenceMargin(), GeometricMargin()),
    (
        NegEntropy(),
        Energy(),
        GEN(),
        MaxLogitPNorm(),
        KNN(),
        Residual(),
        SIRC(),
        KLMatching(),
        FeatureNorm(),
        MDS(normalize=True),
        RMDS(normalize=True),
        NNGuide(),
        FDBD(),
    ),
    anywhere=(DeltaKNN(), DeltaMDS()),
)
"""A choice of scores that differ from each other; all of them together learn no more."""

SCORES |= {score.name: score for score in (*PAPER, *AFTER_THE_PAPER, LEARNED)}

__all__ = [
    "ASH",
    "CTM",
    "DICE",
    "FDBD",
    "GEN",
    "KNN",
    "MDS",
    "NCI",
    "PCA",
    "RAS",
    "RMDS",
    "SCALE",
    "SCORES",
    "SHE",
    "SIRC",
    "About",
    "CannotFitError",
    "ConfidenceMargin",
    "DeltaKNN",
    "DeltaMDS",
    "Doctor",
    "Energy",
    "ExpectedCost",
    "FeatureNorm",
    "FittedScore",
    "GeometricMargin",
    "Inputs",
    "KLMatching",
    "Learned",
    "MarginMix",
    "MaxLogit",
    "MaxLogitPNorm",
    "MaxSoftmax",
    "NNGuide",
    "NegEntropy",
    "PairwiseMargin",
    "PlainScore",
    "ReAct",
    "Residual",
    "Score",
    "TemperatureScaled",
    "ViM",
    "as_score",
    "as_scores",
    "binary_logits",
    "confidence_margin",
    "confidences",
    "doctor",
    "energy",
    "from_state",
    "gen",
    "geometric_margin",
    "geometric_rule",
    "logit_scores",
    "max_logit",
    "max_logit_pnorm",
    "max_softmax",
    "neg_entropy",
    "pairwise_margin",
    "to_state",
]

"""Confidence scores: higher = more trusted."""

from abstain.scores.ash import ASH
from abstain.scores.binary_logits import binary_logits
from abstain.scores.confidence_margin import confidence_margin
from abstain.scores.confidences import confidences
from abstain.scores.ctm import CTM
from abstain.scores.delta_knn import DeltaKNN
from abstain.scores.delta_mds import DeltaMDS
from abstain.scores.dice import DICE
from abstain.scores.doctor import doctor
from abstain.scores.energy import energy
from abstain.scores.expected_cost import ExpectedCost
from abstain.scores.fdbd import FDBD
from abstain.scores.feature_norm import FeatureNorm
from abstain.scores.gen import gen
from abstain.scores.geometric_margin import GeometricMargin, geometric_margin, geometric_rule
from abstain.scores.inputs import Inputs
from abstain.scores.kl_matching import KLMatching
from abstain.scores.knn import KNN
from abstain.scores.logit_scores import logit_scores
from abstain.scores.margin_mix import MarginMix
from abstain.scores.max_logit import max_logit
from abstain.scores.max_logit_pnorm import MaxLogitPNorm, max_logit_pnorm
from abstain.scores.max_softmax import max_softmax
from abstain.scores.mds import MDS
from abstain.scores.nci import NCI
from abstain.scores.neg_entropy import neg_entropy
from abstain.scores.nnguide import NNGuide
from abstain.scores.pairwise_margin import pairwise_margin
from abstain.scores.pca import PCA
from abstain.scores.ras import RAS
from abstain.scores.react import ReAct
from abstain.scores.registry import SCORES, as_score, as_scores
from abstain.scores.residual import Residual
from abstain.scores.rmds import RMDS
from abstain.scores.scale import SCALE
from abstain.scores.score import About, CannotFitError, FittedScore, PlainScore, Score
from abstain.scores.she import SHE
from abstain.scores.sirc import SIRC
from abstain.scores.state import from_state, to_state
from abstain.scores.temperature import TemperatureScaled
from abstain.scores.vim import ViM

__all__ = [
    "ASH",
    "CTM",
    "DICE",
    "FDBD",
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
    "DeltaKNN",
    "DeltaMDS",
    "ExpectedCost",
    "FeatureNorm",
    "FittedScore",
    "GeometricMargin",
    "Inputs",
    "KLMatching",
    "MarginMix",
    "MaxLogitPNorm",
    "NNGuide",
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

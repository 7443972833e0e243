"""scikit-learn classifiers that know when not to answer, alone or in a cascade, scorers, and a display."""

from abstain._extras import require

require("sklearn", extra="sklearn", feature="abstain.sklearn")

from abstain.sklearn.cascade_classifier import CascadeClassifier  # noqa: E402
from abstain.sklearn.risk_coverage_display import RiskCoverageDisplay  # noqa: E402
from abstain.sklearn.scorers import coverage_at_risk, neg_aurc, selective_accuracy  # noqa: E402
from abstain.sklearn.selective_classifier import SelectiveClassifier  # noqa: E402

__all__ = [
    "CascadeClassifier",
    "RiskCoverageDisplay",
    "SelectiveClassifier",
    "coverage_at_risk",
    "neg_aurc",
    "selective_accuracy",
]

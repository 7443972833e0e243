"""`SelectiveClassifier`, a scikit-learn classifier that knows when not to answer, and scorers to search with."""

from abstain.extras import require

require("sklearn", extra="sklearn", feature="abstain.sklearn")

from abstain.sklearn.scorers import coverage_at_risk, neg_aurc, selective_accuracy  # noqa: E402
from abstain.sklearn.selective_classifier import SelectiveClassifier  # noqa: E402

__all__ = ["SelectiveClassifier", "coverage_at_risk", "neg_aurc", "selective_accuracy"]

"""From (confidence, losses) to curves, areas, standard errors and differences."""

from abstain.metrics.augrc import augrc, augrc_se
from abstain.metrics.aurc import aurc
from abstain.metrics.class_balanced import class_weights
from abstain.metrics.compare import ScoreDifference, compare, compare_all, paired
from abstain.metrics.estimates import Estimate, estimates
from abstain.metrics.excess_aurc import excess_aurc, normalized_aurc
from abstain.metrics.group_comparison import Gap, GroupComparison, compare_groups, intersection
from abstain.metrics.groups import Groups, group
from abstain.metrics.intervals import aurc_estimates, aurc_interval, aurc_se
from abstain.metrics.metric import Metric
from abstain.metrics.ood import fpr_at_tpr, ood_aupr, ood_auroc
from abstain.metrics.operating_points import coverage_at_risk, risk_at_coverage
from abstain.metrics.prediction_rejection import accuracy_at_coverage, auarc, prediction_rejection_ratio
from abstain.metrics.ranking import Ranking, SampleRows, rank
from abstain.metrics.registry import METRICS
from abstain.metrics.risk_coverage import RiskBand, RiskCoverage, risk_band, risk_coverage
from abstain.metrics.slices import ShareEstimate, Slice, share, slices
from abstain.metrics.softmax_metrics import brier_score, calibration_error, log_loss

__all__ = [
    "METRICS",
    "Estimate",
    "Gap",
    "GroupComparison",
    "Groups",
    "Metric",
    "Ranking",
    "RiskBand",
    "RiskCoverage",
    "SampleRows",
    "ScoreDifference",
    "ShareEstimate",
    "Slice",
    "accuracy_at_coverage",
    "auarc",
    "augrc",
    "augrc_se",
    "aurc",
    "aurc_estimates",
    "aurc_interval",
    "aurc_se",
    "brier_score",
    "calibration_error",
    "class_weights",
    "compare",
    "compare_all",
    "compare_groups",
    "coverage_at_risk",
    "estimates",
    "excess_aurc",
    "fpr_at_tpr",
    "group",
    "intersection",
    "log_loss",
    "normalized_aurc",
    "ood_aupr",
    "ood_auroc",
    "paired",
    "prediction_rejection_ratio",
    "rank",
    "risk_at_coverage",
    "risk_band",
    "risk_coverage",
    "share",
    "slices",
]

"""From (confidence, losses) to curves, areas, standard errors and differences."""

from abstain.metrics.augrc import augrc, augrc_se
from abstain.metrics.aurc import aurc
from abstain.metrics.brier_score import brier_score
from abstain.metrics.calibration_error import calibration_error
from abstain.metrics.class_balanced import class_weights
from abstain.metrics.compare import Comparison, compare, compare_all, paired
from abstain.metrics.effective_size import effective_size
from abstain.metrics.excess_aurc import excess_aurc, normalized_aurc
from abstain.metrics.groups import Groups, group
from abstain.metrics.intervals import Estimate, aurc_estimates, aurc_interval, aurc_se, estimates
from abstain.metrics.log_loss import log_loss
from abstain.metrics.ood import fpr_at_tpr, ood_aupr, ood_auroc
from abstain.metrics.operating_points import coverage_at_risk, risk_at_coverage
from abstain.metrics.ranking import Ranking, Rows, rank
from abstain.metrics.registry import METRICS, Metric
from abstain.metrics.risk_band import RiskBand, risk_band
from abstain.metrics.risk_coverage import RiskCoverage, risk_coverage
from abstain.metrics.share import Share, share
from abstain.metrics.slices import Slice, slices

__all__ = [
    "METRICS",
    "Comparison",
    "Estimate",
    "Groups",
    "Metric",
    "Ranking",
    "RiskBand",
    "RiskCoverage",
    "Rows",
    "Share",
    "Slice",
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
    "coverage_at_risk",
    "effective_size",
    "estimates",
    "excess_aurc",
    "fpr_at_tpr",
    "group",
    "log_loss",
    "normalized_aurc",
    "ood_aupr",
    "ood_auroc",
    "paired",
    "rank",
    "risk_at_coverage",
    "risk_band",
    "risk_coverage",
    "share",
    "slices",
]

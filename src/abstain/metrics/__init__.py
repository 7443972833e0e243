"""From (confidence, losses) to curves, areas, standard errors and differences."""

from abstain.metrics.augrc import augrc, augrc_se
from abstain.metrics.aurc import aurc
from abstain.metrics.compare import Comparison, compare
from abstain.metrics.effective_size import effective_size
from abstain.metrics.excess_aurc import excess_aurc, normalized_aurc
from abstain.metrics.intervals import aurc_interval, aurc_se
from abstain.metrics.ood import fpr_at_tpr, ood_aupr, ood_auroc
from abstain.metrics.operating_points import coverage_at_risk, risk_at_coverage
from abstain.metrics.risk_coverage import RiskCoverage, risk_coverage

__all__ = [
    "Comparison",
    "RiskCoverage",
    "augrc",
    "augrc_se",
    "aurc",
    "aurc_interval",
    "aurc_se",
    "compare",
    "coverage_at_risk",
    "effective_size",
    "excess_aurc",
    "fpr_at_tpr",
    "normalized_aurc",
    "ood_aupr",
    "ood_auroc",
    "risk_at_coverage",
    "risk_coverage",
]

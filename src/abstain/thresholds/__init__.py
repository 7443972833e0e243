"""Thresholds that keep their promise."""

from abstain.thresholds.betting import betting_evidence, mean_upper_bound
from abstain.thresholds.binomial import binomial_p, hoeffding_bentkus_p, lower_bound, upper_bound
from abstain.thresholds.bonferroni import bonferroni
from abstain.thresholds.conformal import conformal_joint, conformal_selection
from abstain.thresholds.costs import ChowDecision, chow, minimal_cost
from abstain.thresholds.coverage import target_coverage, target_tpr
from abstain.thresholds.empirical import empirical_without_guarantee
from abstain.thresholds.estimated_weights import EstimatedWeights, estimate_weights
from abstain.thresholds.fixed_sequence import fixed_sequence
from abstain.thresholds.groups import group_thresholds
from abstain.thresholds.mixtures import LabelShiftBound, label_shift_bound, mixed_risk, worst_mixture_risk
from abstain.thresholds.sgr import sgr
from abstain.thresholds.simultaneous import simultaneous_bound
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold
from abstain.thresholds.weighted import rejection_sample, weighted_fixed_sequence

__all__ = [
    "ChowDecision",
    "EstimatedWeights",
    "LabelShiftBound",
    "NoSafeThresholdError",
    "Threshold",
    "betting_evidence",
    "binomial_p",
    "bonferroni",
    "chow",
    "conformal_joint",
    "conformal_selection",
    "empirical_without_guarantee",
    "estimate_weights",
    "fixed_sequence",
    "group_thresholds",
    "hoeffding_bentkus_p",
    "label_shift_bound",
    "lower_bound",
    "mean_upper_bound",
    "minimal_cost",
    "mixed_risk",
    "rejection_sample",
    "sgr",
    "simultaneous_bound",
    "target_coverage",
    "target_tpr",
    "upper_bound",
    "weighted_fixed_sequence",
    "worst_mixture_risk",
]

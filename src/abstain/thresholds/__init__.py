"""Thresholds that keep their promise."""

from abstain.thresholds.binomial import binomial_p, hoeffding_bentkus_p, lower_bound, upper_bound
from abstain.thresholds.bonferroni import bonferroni
from abstain.thresholds.conformal import conformal_joint, conformal_selection
from abstain.thresholds.coverage import target_coverage, target_tpr
from abstain.thresholds.empirical import empirical_without_guarantee
from abstain.thresholds.fixed_sequence import fixed_sequence
from abstain.thresholds.sgr import sgr
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold

__all__ = [
    "NoSafeThresholdError",
    "Threshold",
    "binomial_p",
    "bonferroni",
    "conformal_joint",
    "conformal_selection",
    "empirical_without_guarantee",
    "fixed_sequence",
    "hoeffding_bentkus_p",
    "lower_bound",
    "sgr",
    "target_coverage",
    "target_tpr",
    "upper_bound",
]

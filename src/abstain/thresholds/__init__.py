"""Thresholds that keep their guarantee.

Every rule takes (confidence, losses) and a target and returns a `Threshold` with its `Guarantee`, or raises
`NoSafeThresholdError`. `abstain.calibrate` chooses the rule for a target; `methods.METHODS` lists them by name.
"""

from abstain.thresholds.baselines import bonferroni, empirical_without_guarantee, sgr
from abstain.thresholds.betting import mean_upper_bound
from abstain.thresholds.betting_sequence import betting
from abstain.thresholds.binomial import binomial_p, hoeffding_bentkus_p, lower_bound, upper_bound
from abstain.thresholds.conformal import conformal_joint, conformal_selection
from abstain.thresholds.costs import ChowDecision, chow, chow_threshold, minimal_cost
from abstain.thresholds.coverage import target_coverage, target_tpr
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.joint_risk import joint_risk
from abstain.thresholds.miss_rate import risk_and_miss_rate, target_miss_rate
from abstain.thresholds.mixtures import LabelShiftBound, label_shift_bound, worst_mixture_risk
from abstain.thresholds.per_group import group_thresholds
from abstain.thresholds.pilot import PilotRow, plan_from_pilot
from abstain.thresholds.planning import risk_for, samples_for, samples_range
from abstain.thresholds.refusal import Achievable, NoSafeThresholdError
from abstain.thresholds.review import target_review
from abstain.thresholds.risk_and_coverage import risk_and_coverage, trade_off
from abstain.thresholds.step_down import step_down
from abstain.thresholds.target_risk import label_floor, labelled_above, target_risk
from abstain.thresholds.threshold import Threshold
from abstain.thresholds.weighted import EstimatedWeights, estimate_weights, rejection_sample, weighted_risk

__all__ = [
    "Achievable",
    "ChowDecision",
    "EstimatedWeights",
    "Guarantee",
    "LabelShiftBound",
    "NoSafeThresholdError",
    "PilotRow",
    "Quantity",
    "Threshold",
    "betting",
    "binomial_p",
    "bonferroni",
    "chow",
    "chow_threshold",
    "conformal_joint",
    "conformal_selection",
    "empirical_without_guarantee",
    "estimate_weights",
    "group_thresholds",
    "hoeffding_bentkus_p",
    "joint_risk",
    "label_floor",
    "label_shift_bound",
    "labelled_above",
    "lower_bound",
    "mean_upper_bound",
    "minimal_cost",
    "plan_from_pilot",
    "rejection_sample",
    "risk_and_coverage",
    "risk_and_miss_rate",
    "risk_for",
    "samples_for",
    "samples_range",
    "sgr",
    "step_down",
    "target_coverage",
    "target_miss_rate",
    "target_review",
    "target_risk",
    "target_tpr",
    "trade_off",
    "upper_bound",
    "weighted_risk",
    "worst_mixture_risk",
]

"""A score, a threshold and its guarantee: `calibrate` makes a `Selector`, one file holds it."""

from abstain.selector import targets
from abstain.selector.audited_decisions import AuditedDecisions
from abstain.selector.calibrate import calibrate, calibrate_sketch
from abstain.selector.cascades import Cascade, cascade, load_selector
from abstain.selector.certificate import Certificate
from abstain.selector.certify import certify
from abstain.selector.class_sets import ClassSets, calibrate_sets
from abstain.selector.group_thresholds import GroupThresholds
from abstain.selector.recertification import Recertification
from abstain.selector.review_plan import ReviewPlan
from abstain.selector.selector import ABSTAIN, Selector
from abstain.selector.targets import *  # noqa: F403
from abstain.selector.targets.target import Target

__all__ = [
    "ABSTAIN",
    "AuditedDecisions",
    "Cascade",
    "Certificate",
    "ClassSets",
    "GroupThresholds",
    "Recertification",
    "ReviewPlan",
    "Selector",
    "Target",
    "calibrate",
    "calibrate_sets",
    "calibrate_sketch",
    "cascade",
    "certify",
    "load_selector",
]
__all__ += targets.__all__

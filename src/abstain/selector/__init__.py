"""A score, a threshold and its promise: `calibrate` makes a `Selector`, one file holds it."""

from abstain.selector.calibrate import calibrate
from abstain.selector.certificate import Certificate
from abstain.selector.certify import certify
from abstain.selector.group_thresholds import GroupThresholds
from abstain.selector.recertify import Recertification
from abstain.selector.selector import ABSTAIN, Selector
from abstain.selector.sketched import calibrate_sketch

__all__ = [
    "ABSTAIN",
    "Certificate",
    "GroupThresholds",
    "Recertification",
    "Selector",
    "calibrate",
    "calibrate_sketch",
    "certify",
]

"""Anytime-valid alarms for a deployed selector, and estimates of its risk without labels."""

from abstain.monitor.acceptance import AcceptanceMonitor
from abstain.monitor.deployment import DeploymentMonitor
from abstain.monitor.drift import DriftMonitor
from abstain.monitor.estimates import RISK_METHODS, RiskMethod
from abstain.monitor.groups import GroupMonitor, GroupMonitors
from abstain.monitor.recent import Recent
from abstain.monitor.risk import RiskMonitor
from abstain.monitor.risk_estimate import MethodEstimate, ObservedRates, RiskEstimate, estimate_risk
from abstain.monitor.row import Row
from abstain.monitor.scores import ScoreMonitor
from abstain.monitor.watch import Watch

__all__ = [
    "RISK_METHODS",
    "AcceptanceMonitor",
    "DeploymentMonitor",
    "DriftMonitor",
    "GroupMonitor",
    "GroupMonitors",
    "MethodEstimate",
    "ObservedRates",
    "Recent",
    "RiskEstimate",
    "RiskMethod",
    "RiskMonitor",
    "Row",
    "ScoreMonitor",
    "Watch",
    "estimate_risk",
]

"""Anytime-valid alarms for a deployed selector."""

from abstain.monitor.acceptance import AcceptanceMonitor, fisher_p
from abstain.monitor.deployment import DeploymentMonitor
from abstain.monitor.risk import RiskMonitor
from abstain.monitor.row import Row
from abstain.monitor.scores import ScoreMonitor
from abstain.monitor.watch import Watch

__all__ = [
    "AcceptanceMonitor",
    "DeploymentMonitor",
    "RiskMonitor",
    "Row",
    "ScoreMonitor",
    "Watch",
    "fisher_p",
]

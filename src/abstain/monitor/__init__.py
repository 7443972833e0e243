"""Anytime-valid alarms for a deployed selector."""

from abstain.monitor.acceptance import AcceptanceMonitor
from abstain.monitor.deployment import DeploymentMonitor
from abstain.monitor.risk import RiskMonitor
from abstain.monitor.row import Row
from abstain.monitor.scores import ScoreMonitor
from abstain.monitor.watch import Watch
from abstain.monitor.window import fisher_p

__all__ = [
    "AcceptanceMonitor",
    "DeploymentMonitor",
    "RiskMonitor",
    "Row",
    "ScoreMonitor",
    "Watch",
    "fisher_p",
]

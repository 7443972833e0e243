"""Anytime-valid alarms for a deployed selector."""

from abstain.monitor.acceptance import AcceptanceMonitor
from abstain.monitor.deployment import DeploymentMonitor
from abstain.monitor.risk import RiskMonitor
from abstain.monitor.scores import ScoreMonitor
from abstain.monitor.window import fisher_p

__all__ = ["AcceptanceMonitor", "DeploymentMonitor", "RiskMonitor", "ScoreMonitor", "fisher_p"]

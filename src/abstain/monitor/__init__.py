"""Anytime-valid alarms for a deployed selector."""

from abstain.monitor.acceptance import AcceptanceMonitor
from abstain.monitor.risk import RiskMonitor

__all__ = ["AcceptanceMonitor", "RiskMonitor"]

"""Logs of decisions: written so that nothing acknowledged is lost, and read by every command that takes decisions."""

from abstain.decision_log.log import DecisionLog
from abstain.decision_log.parts import is_log, log_parts
from abstain.decision_log.table import read_log

__all__ = ["DecisionLog", "is_log", "log_parts", "read_log"]

"""Rows beyond memory and beyond one machine: Parquet files, read part by part on an engine."""

from abstain.engines.engine import Engine
from abstain.engines.registry import ENGINES, started
from abstain.engines.select import Selected, select
from abstain.engines.sketch import Sketched, sketch

__all__ = ["ENGINES", "Engine", "Selected", "Sketched", "select", "sketch", "started"]

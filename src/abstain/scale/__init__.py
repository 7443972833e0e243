"""Rows beyond memory and beyond one machine: Parquet files, read part by part on an engine."""

from abstain.scale.engine import Engine
from abstain.scale.engines import ENGINES, Execution
from abstain.scale.select import SelectionCounts, select
from abstain.scale.sketch import SketchResult, SketchSettings, sketch

__all__ = ["ENGINES", "Engine", "Execution", "SelectionCounts", "SketchResult", "SketchSettings", "select", "sketch"]

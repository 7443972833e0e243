"""Counts that merge: curves, areas and thresholds of any number of rows, from a small file."""

from abstain.sketch.bins import Bins
from abstain.sketch.counts import BinCounts, Bracket
from abstain.sketch.plan import Plan
from abstain.sketch.sketch import Sketch, Tally, merge

__all__ = ["BinCounts", "Bins", "Bracket", "Plan", "Sketch", "Tally", "merge"]

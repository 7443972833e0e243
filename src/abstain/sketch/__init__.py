"""Counts that merge: curves, areas and thresholds of any number of rows, from a small file."""

from abstain.sketch.bins import Bins
from abstain.sketch.bracket import Bracket
from abstain.sketch.counts import Counts
from abstain.sketch.plan import Plan
from abstain.sketch.sketch import Sketch, merge
from abstain.sketch.tally import Tally

__all__ = ["Bins", "Bracket", "Counts", "Plan", "Sketch", "Tally", "merge"]

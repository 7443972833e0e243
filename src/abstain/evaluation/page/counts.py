"""Exact counts at many thresholds: what the explorer of the page looks up."""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats, Ints
from abstain._kernels.ranking import order_rows
from abstain.evaluation.bounds import clustered_bounds, upper_bounds
from abstain.evaluation.divisions import KINDS, Division
from abstain.evaluation.mixes import MIXES
from abstain.thresholds.threshold import apart, between

POINTS = 2000  # thresholds that a page knows, besides the chosen one


@final
@dataclass(frozen=True)
class ThresholdCounts:
    """The rows in the order of a score, and thresholds on it from the highest to the lowest."""

    rows: Ints
    """(n,) from the most trusted to the least."""
    ranks: Ints
    """(g,) how many rows each threshold accepts."""
    thresholds: Floats
    """(g,) each strictly between two confidences."""

    @classmethod
    def of(cls, confidence: Floats, /, *, chosen: float | None = None) -> Self:
        """Every threshold there is, or `POINTS` of them at even distances, and the chosen one."""
        rows = order_rows(confidence).rows
        ranked = confidence[rows]
        ends = np.flatnonzero(apart(ranked)) + 1
        if len(ends) > POINTS:
            ends = ends[np.unique(np.linspace(0, len(ends) - 1, POINTS).astype(np.int64))]
        below = np.append(ranked[1:], -np.inf)
        values = {int(end): between(float(ranked[end - 1]), float(below[end - 1])) for end in ends.tolist()}
        if chosen is not None and (rank := int(np.searchsorted(-ranked, -chosen))):
            values[rank] = chosen
        ranks = sorted(values)
        return cls(rows, np.array(ranks, dtype=np.int64), np.array([values[rank] for rank in ranks]))

    def of_parts(self, division: Division, kinds: Ints, errors: NDArray[np.bool_], /) -> dict[str, Any]:
        """Rows and errors that each threshold adds to those of the one before, by kind of shift and part.

        ``at`` numbers (threshold, kind, part) as one, each as the step from the one before.
        """
        width = len(KINDS) * len(division.parts)
        added = np.searchsorted(self.ranks, np.arange(len(self.rows)), side="right")
        cell = added * width + (kinds * len(division.parts) + division.number)[self.rows]
        size = width * (len(self.ranks) + 1)
        rows = np.bincount(cell, minlength=size)
        wrong = np.bincount(cell[errors[self.rows]], minlength=size)
        at = np.flatnonzero(rows)
        return {
            "at": np.diff(at, prepend=0).tolist(),
            "rows": rows[at].tolist(),
            "errors": wrong[at].tolist(),
        }

    def bounds(
        self, mix: str, kinds: Ints, errors: NDArray[np.bool_], /, *, delta: float, clusters: Ints | None
    ) -> Floats:
        """(g,) the upper bound of the risk of a mix at each threshold."""
        inside = np.isin(KINDS, MIXES[mix].kinds)[kinds[self.rows]]
        accepted = np.concatenate([[0], np.cumsum(inside)])[self.ranks]
        rows = self.rows[inside]
        if clusters is not None:
            return clustered_bounds(errors[rows], clusters[rows], accepted, delta=delta)
        wrong = np.concatenate([[0], np.cumsum(errors[rows])])[accepted]
        return upper_bounds(wrong, accepted, delta=delta)

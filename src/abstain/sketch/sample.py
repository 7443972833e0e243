"""The counts of a sketch as the calibration sample of a threshold."""

from dataclasses import dataclass
from sys import float_info
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.histogram import LARGEST
from abstain.sketch.counts import Counts
from abstain.thresholds.threshold import between

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@final
@dataclass(frozen=True)
class BinnedSample:
    """Bins as ties: a threshold lies between bins, so that it accepts whole ones."""

    counts: Counts

    def __len__(self) -> int:
        return self.counts.n

    @property
    def ends(self) -> Ints:
        """(g,) the numbers of rows that a threshold can accept, ascending."""
        return np.cumsum(self.counts.counts)[self.counts.bins > 0]

    @property
    def totals(self) -> Ints:
        """(g,) the errors among these."""
        return np.cumsum(self.counts.errors)[self.counts.bins > 0]

    def rows(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Confidence and errors of rows with these counts, all of a bin at its lowest confidence."""
        c = self.counts
        pairs = np.stack([c.errors, c.counts - c.errors], axis=1).ravel()
        wrong = np.tile([True, False], len(c.counts))
        return np.repeat(c.used.lowest(c.bins), c.counts), np.repeat(wrong, pairs)

    def below(self, rank: int, /) -> float:
        """The threshold that accepts exactly the bins of the ``rank`` most trusted rows.

        Confidences that were rounded to float32 are on the side that they were counted on.
        """
        c = self.counts
        last = int(np.searchsorted(np.cumsum(c.counts), rank))
        upper = float(c.used.lowest(c.bins[last : last + 1])[0])
        lower = float(c.used.highest(c.bins[last + 1 : last + 2])[0]) if last + 1 < len(c.bins) else -np.inf
        if upper == np.inf and lower >= LARGEST:
            return float_info.max
        value = between(upper, lower)
        return float(np.nextafter(value, -np.inf)) if lower > -np.inf and np.float32(value) == upper else value

"""Bins as groups of a ranking."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.errors import ErrorArea
from abstain.metrics.groups import Groups, prefix
from abstain.sketch.areas import error_areas

Ints = NDArray[np.int64]


@final
@dataclass(frozen=True)
class Binned:
    """Groups of rows, the most trusted first; areas take time for the groups alone, or are to the bit those of rows."""

    tied: Groups
    is_looped: bool
    """Whether areas are summed rank by rank."""
    is_counted: bool = True

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.tied.n

    @property
    def risk(self) -> float:
        """Risk at full coverage."""
        return self.tied.risk

    def prefix(self, coverage: float, /) -> int:
        """How many rows, at least one, fit into ``coverage``."""
        return prefix(self.n, coverage)

    def groups(self) -> Groups:
        """The groups."""
        return self.tied

    def error_areas(self, ms: Ints, /) -> list[ErrorArea]:
        """The sums over the first m rows."""
        if self.is_looped:
            return self.tied.error_areas(ms)
        return error_areas(self.tied.counts, self.tied.losses, ms)

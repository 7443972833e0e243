"""A value known between bounds."""

from dataclasses import dataclass
from typing import final

SLACK = 1e-12  # of a bound: beyond what rounding can do


@final
@dataclass(frozen=True)
class Bracket:
    """What the rows give is between ``low`` and ``high``, whatever their order within bins; some order gives each."""

    low: float
    point: float
    """Ties in expectation, as if the rows of a bin had the same confidence."""
    high: float

    @classmethod
    def around(cls, point: float, *ends: float) -> "Bracket":
        """The bracket of two ends in any order, widened by what rounding may have done."""
        low, high = min(*ends, point), max(*ends, point)
        return cls(max(0.0, low * (1 - SLACK)), point, min(1.0, high * (1 + SLACK)))

    @property
    def width(self) -> float:
        """How far the bounds are apart."""
        return self.high - self.low

    def contains(self, value: float, /) -> bool:
        """Whether a value is possible."""
        return self.low <= value <= self.high

"""`MixComparison`: what sets two models apart on a mix of shifts, as plain data."""

from dataclasses import dataclass
from typing import Self, final

from abstain.metrics.two_models import Pair


@final
@dataclass(frozen=True)
class RunDifference:
    """A value of both models, and the difference of a minus b with its standard error and interval.

    Attributes
    ----------
    at : float
        The α, the coverage or the risk.
    a : float
        The value of model a.
    b : float
        The value of model b.
    difference : float
        a − b.
    se : float or None
        Its standard error; None for coverages where a curve ends, or does not rise.
    low : float
        The lower end of its interval.
    high : float
        The upper end of its interval.
    """

    at: float
    a: float
    b: float
    difference: float
    se: float | None
    low: float
    high: float

    @classmethod
    def of(cls, at: float, pair: Pair, /) -> Self:
        """A pair of values at a point."""
        low, high = max(pair.low, -1.0), min(pair.high, 1.0)  # of shares no difference is larger
        return cls(float(at), pair.a, pair.b, pair.difference, pair.se, low, high)

    @property
    def change(self) -> tuple[float, float, float]:
        """From a to b: the difference b − a and its interval."""
        return -self.difference, -self.high, -self.low

    @property
    def is_significant(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


@final
@dataclass(frozen=True, kw_only=True)
class MixComparison:
    """Two models on a mix of shifts.

    Attributes
    ----------
    mix : str
        The name of the mix.
    n : int
        The number of rows.
    samples : int
        The number of different samples.
    errors_a : float
        The number of errors of a, or the total of its losses.
    errors_b : float
        The same of b.
    aurc : tuple of RunDifference
        AURC-α: below zero means that a is better.
    risk : tuple of RunDifference
        The risk where both accept the same share: below zero means that a is better.
    coverage : tuple of RunDifference
        The share that each accepts at the same risk: above zero means that a is better.
    coverage_at_risk_of_b : tuple of RunDifference
        The share that a accepts at the risk which b has at a coverage, and that coverage as ``b``.
    coverage_at_risk_of_a : tuple of RunDifference
        The share that b accepts at the risk which a has at a coverage, as ``b``, and that coverage as ``a``.
    """

    mix: str
    n: int
    samples: int
    errors_a: float
    """Their number; of graded answers the total loss, which is no integer."""
    errors_b: float
    aurc: tuple[RunDifference, ...]
    risk: tuple[RunDifference, ...]
    coverage: tuple[RunDifference, ...]
    coverage_at_risk_of_b: tuple[RunDifference, ...]
    coverage_at_risk_of_a: tuple[RunDifference, ...]

    @property
    def is_graded(self) -> bool:
        """Whether answers have losses, not simply errors."""
        return not isinstance(self.errors_a, int)

    @property
    def area(self) -> RunDifference:
        """AURC-α of the largest α."""
        return max(self.aurc, key=lambda difference: difference.at)

    @property
    def is_same(self) -> bool:
        """Whether the two agree on every row."""
        return all(difference.low == difference.high == 0 for difference in (*self.aurc, *self.risk, *self.coverage))

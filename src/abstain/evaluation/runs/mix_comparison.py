"""`MixComparison`: what sets two models apart on a mix of shifts, as plain data."""

from dataclasses import dataclass
from typing import final

from abstain.metrics.two_models import ModelDifference


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
    aurc : tuple of ModelDifference
        AURC-α: below zero means that a is better.
    risk : tuple of ModelDifference
        The risk where both accept the same share: below zero means that a is better.
    coverage : tuple of ModelDifference
        The share that each accepts at the same risk: above zero means that a is better.
    coverage_at_risk_of_b : tuple of ModelDifference
        The share that a accepts at the risk which b has at a coverage, and that coverage as ``b``.
    coverage_at_risk_of_a : tuple of ModelDifference
        The share that b accepts at the risk which a has at a coverage, as ``b``, and that coverage as ``a``.
    """

    mix: str
    n: int
    samples: int
    errors_a: float
    """Their number; of graded answers the total loss, which is no integer."""
    errors_b: float
    aurc: tuple[ModelDifference, ...]
    risk: tuple[ModelDifference, ...]
    coverage: tuple[ModelDifference, ...]
    coverage_at_risk_of_b: tuple[ModelDifference, ...]
    coverage_at_risk_of_a: tuple[ModelDifference, ...]

    @property
    def is_graded(self) -> bool:
        """Whether answers have losses, not simply errors."""
        return not isinstance(self.errors_a, int)

    @property
    def area(self) -> ModelDifference:
        """AURC-α of the largest α."""
        return max(self.aurc, key=lambda difference: difference.at)

    @property
    def is_same(self) -> bool:
        """Whether the two agree on every row."""
        return all(difference.low == difference.high == 0 for difference in (*self.aurc, *self.risk, *self.coverage))

"""`RiskMethod`: an estimator of the mean loss of rows without labels, and what it needs and assumes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from abstain.monitor.estimates.case import ShiftCase


@final
@dataclass(frozen=True, kw_only=True)
class RiskMethod:
    """One estimator; its module holds the formula."""

    name: str
    title: str
    assumption: str
    """What must hold for the estimate to be right; without labels none of these can be checked."""
    reference: str
    """Where it was published."""
    estimate: Callable[[ShiftCase], float]
    """The mean loss of the new rows; it may leave the range from 0 to 1, to which `__call__` brings it back."""
    needs_classes: bool = False
    """Whether it reads logits or probabilities, not the confidence alone."""

    def objection(self, case: ShiftCase, /) -> str | None:
        """Why it cannot be used on these rows, if so."""
        if self.needs_classes and not case.reference.n_classes:
            return "it needs logits or probabilities"
        return None

    def __call__(self, case: ShiftCase, /) -> float:
        """The estimated mean loss of the new rows, from 0 to 1."""
        return float(min(1.0, max(0.0, self.estimate(case))))

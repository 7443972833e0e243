"""What an estimator of risk without labels gets, and `RiskMethod`, the estimator with what it needs and assumes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from abstain._arrays import Floats
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain._text import counted
from abstain.metrics.checks import rejected_last
from abstain.monitor.estimates.density_ratio import density_ratio
from abstain.outputs import Outputs
from abstain.selector import Selector


@final
@dataclass(frozen=True, eq=False)
class ShiftCase:
    """Reference and new rows under one score; every estimator is a function of it, and returns a mean loss."""

    reference: Outputs
    confidence: Floats
    """(n,) of the reference rows, finite or infinite but never NaN."""
    losses: Floats
    """(n,) of the reference rows, from 0 to 1."""
    new: Outputs
    new_confidence: Floats
    """(m,) of the new rows."""

    @classmethod
    def of(cls, selector: Selector, reference: Outputs, new: Outputs, /) -> Self:
        """The finite rows of both, with the selector's confidence and losses."""
        known, fresh = (_finite(rows, name) for rows, name in ((reference, "reference"), (new, "unlabelled")))
        losses = known.losses if known.is_graded else selector.errors(known).astype(np.float64)
        return cls(
            known, rejected_last(selector.confidence(known)), losses, fresh, rejected_last(selector.confidence(fresh))
        )

    def accepted(self, selector: Selector, /) -> Self:
        """The accepted rows of both; an error where there are none, since their risk is then undefined."""
        known = selector.accepted(self.reference, self.confidence)
        fresh = selector.accepted(self.new, self.new_confidence)
        for name, rows in (("reference", known), ("unlabelled", fresh)):
            if not rows.any():
                raise InvalidInputError(
                    f"`{name}` must have rows that the selector accepts, for their risk to be defined, got "
                    f"{counted(len(rows), 'finite row')}, all of them rejected."
                )
        return type(self)(
            self.reference.select(known),
            self.confidence[known],
            self.losses[known],
            self.new.select(fresh),
            self.new_confidence[fresh],
        )

    @property
    def risk(self) -> float:
        """The mean loss of the reference rows."""
        return float(self.losses.mean())

    @cached_property
    def ratio(self) -> Floats:
        """(n,) how much more frequent each reference row is among the new ones, by a domain classifier; mean 1."""
        return density_ratio(self.reference, self.confidence, self.new, self.new_confidence)


@final
@dataclass(frozen=True, kw_only=True)
class RiskMethod:
    """An estimator of the mean loss of rows without labels.

    Attributes
    ----------
    name : str
        What people type.
    title : str
        What it is called in a sentence.
    assumption : str
        What must hold for the estimate to be right; without labels none of these can be checked.
    reference : str
        Where it was published.
    estimate : function
        The mean loss of the new rows; it may leave the range from 0 to 1, to which `__call__` brings it back.
    needs_classes : bool
        Whether it reads logits or probabilities, not the confidence alone.
    """

    name: str
    title: str
    assumption: str
    reference: str
    estimate: Callable[[ShiftCase], float]
    needs_classes: bool = False

    def objection(self, case: ShiftCase, /) -> str | None:
        """Why it cannot be used on these rows, if so."""
        if self.needs_classes and not case.reference.n_classes:
            return "it needs logits or probabilities"
        return None

    def __call__(self, case: ShiftCase, /) -> float:
        """The estimated mean loss of the new rows, from 0 to 1."""
        return float(min(1.0, max(0.0, self.estimate(case))))


def _finite(rows: Outputs, name: str) -> Outputs:
    if rows.usable.all():
        return rows
    if not rows.usable.any():
        raise InvalidInputError(f"`{name}` must have finite rows, got {len(rows):,} rows, all of them non-finite.")
    return rows.select(rows.usable)

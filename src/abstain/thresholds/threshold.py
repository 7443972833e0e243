"""A threshold and what it guarantees."""

from dataclasses import dataclass, replace
from html import escape
from math import inf, isinf
from sys import float_info
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_doubles
from abstain._errors import InvalidInputError
from abstain.thresholds.guarantee import Guarantee, Quantity

BESIDE = 1e-5  # of its size, where a threshold lies at a confidence: more than float32 or six digits round
CLOSE = 1e-9  # confidences that are closer, relative to their size, may differ by rounding alone


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class Threshold:
    """Accept iff confidence > ``value``, with the calibration counts behind it and what it guarantees.

    Attributes
    ----------
    value : float
        γ; +inf accepts nothing, −inf every finite row.
    method : str
        The rule that chose it.
    n : int
        Rows of the calibration sample that it was certified on.
    accepted : int
        Those of them above γ.
    errors : float or None
        The total loss among these: errors, or costs where the guarantee is about those; None where it is not known.
    guarantee : Guarantee
        What is guaranteed.
    further : tuple of Guarantee
        What else holds, together with the guarantee.
    """

    value: float
    method: str
    n: int
    accepted: int
    errors: float | None
    guarantee: Guarantee
    further: tuple[Guarantee, ...] = ()

    def __post_init__(self) -> None:
        if self.value != self.value or not 0 <= self.accepted <= self.n or not 0 <= (self.errors or 0.0) < inf:
            raise InvalidInputError(
                f"A threshold must be a number with counts that fit, got {self.value} with {self.accepted} of {self.n} "
                f"accepted and losses of {self.errors}."
            )

    @classmethod
    def counted(
        cls,
        value: float,
        method: str,
        confidence: NDArray[np.float64],
        losses: NDArray[Any],
        /,
        guarantee: Guarantee,
        *further: Guarantee,
    ) -> Self:
        """The threshold with its counts on rows (n,) that did not choose it, or that certified it."""
        accepted = confidence > value
        return cls(
            value=value,
            method=method,
            n=len(confidence),
            accepted=int(np.count_nonzero(accepted)),
            errors=float(losses[accepted].sum()),
            guarantee=guarantee,
            further=further,
        )

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """All that is guaranteed together, the main one first."""
        return self.guarantee, *self.further

    def accepts(self, confidence: ArrayLike, /) -> NDArray[np.bool_]:
        """Which samples are accepted; NaN never is."""
        return as_doubles("confidence", confidence) > self.value

    def of_losses(self) -> Self:
        """The same threshold with guarantees about losses between 0 and 1 instead of errors."""
        further = tuple(each.of_losses() for each in self.further)
        return replace(self, guarantee=self.guarantee.of_losses(), further=further)

    def __repr__(self) -> str:
        target = "" if self.guarantee.target is None else f", target {self.guarantee.target:g}"
        return f"<Threshold: > {self.value:.6g} by {self.method}{target}; {self.accepted} of {self.n} accepted>"

    def __str__(self) -> str:
        return f"accept iff confidence > {self.value:.6g} ({self.method}): {self.words}"

    def _repr_html_(self) -> str:
        counts = f"{self.accepted:,} of {self.n:,} calibration rows accepted"
        return f"<b>Threshold</b> &gt; {self.value:.6g}, by {escape(self.method)}<br>{escape(self.words)}<br>{counts}"

    @property
    def observed(self) -> str:
        """What the calibration rows show: how many are accepted, and how many of them are wrong or what they cost."""
        share = f"{self.accepted:,} of {self.n:,} calibration rows ({self.accepted / self.n:.1%}) accepted"
        if self.errors is None:
            return share
        if self.guarantee.quantity is Quantity.COST:
            return f"{share}, which cost {self.errors:,.6g} in all"
        if self.guarantee.quantity.event == "loss" or not float(self.errors).is_integer():
            return f"{share}" + (f", with a mean loss of {self.errors / self.accepted:.4g}" if self.accepted else "")
        risk = f" ({self.errors / self.accepted:.2%})" if self.accepted else ""
        return f"{share}, {self.errors:,.4g} of them wrong{risk}"

    @property
    def words(self) -> str:
        """All that is guaranteed."""
        return " And, together with it: ".join(str(guarantee) for guarantee in self.guarantees)


def between(upper: float, lower: float, /) -> float:
    """A threshold strictly between two confidences, so that rounding decides nothing; −inf below all of them."""
    if lower == -inf:
        return -inf
    if isinf(upper):
        return min(lower + max(1.0, abs(lower)), float_info.max)
    middle = lower + (upper - lower) / 2
    return middle if lower < middle < upper else lower


def at_upper(upper: float, lower: float, /) -> float:
    """A threshold just below the upper of two confidences: as near as rounding and reading allow."""
    if isinf(upper):
        return float_info.max
    size = abs(upper) or (1.0 if isinf(lower) else abs(lower))  # not what is below: that may be a mark such as -1e30
    return max(between(upper, lower), upper - BESIDE * size)


def at_lower(upper: float, lower: float, /) -> float:
    """A threshold just above the lower of two confidences."""
    return -at_upper(-lower, -upper) if lower > -inf else -inf


def apart(confidence: NDArray[np.float64], /) -> NDArray[np.bool_]:
    """(n,) of confidences in descending order, after which a threshold can be put: the next is clearly lower.

    The last always is, unless it is −inf, which can never be accepted.
    """
    following = np.append(confidence[1:], -inf)
    with np.errstate(invalid="ignore"):
        gap = confidence - following
    size = np.maximum(np.abs(np.where(np.isinf(confidence), 0.0, confidence)), 1e-300)
    return (gap > CLOSE * size) & (confidence > -inf)

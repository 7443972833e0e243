"""A threshold and what it promises."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from html import escape
from math import inf, isinf
from sys import float_info
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import as_doubles
from abstain.thresholds.achievable import Achievable
from abstain.thresholds.promise import COST, Promise

CLOSE = 1e-9  # confidences that are closer, relative to their size, may be told apart by rounding alone


class NoSafeThresholdError(ValueError):
    """No threshold can be certified on this calibration sample: what was asked, what is achievable, and what to do.

    To find out what is takes a while, so a message may be a function that is called when it is read.
    """

    def __init__(
        self,
        message: str | Callable[[], str],
        /,
        *,
        in_reach: Callable[[], float | None] | None = None,
        achievable: Callable[[], tuple[Achievable, ...]] | None = None,
    ) -> None:
        super().__init__(message)
        self._message = message
        self._in_reach = in_reach
        self._achievable = achievable

    @property
    def in_reach(self) -> float | None:
        """About the lowest risk that can be certified on this sample, None where that is not known."""
        return None if self._in_reach is None else self._in_reach()

    @property
    def achievable(self) -> tuple[Achievable, ...]:
        """Targets that can be certified on this sample, the lowest risk first; none where that is not known."""
        return () if self._achievable is None else self._achievable()

    def with_advice(self, advice: str, /) -> "NoSafeThresholdError":
        """The same with one more thing to do."""
        return NoSafeThresholdError(
            lambda: f"{self} {advice}", in_reach=lambda: self.in_reach, achievable=lambda: self.achievable
        )

    def __str__(self) -> str:
        if callable(self._message):
            self._message = self._message()
        return self._message

    def __reduce__(self) -> tuple[type, tuple[str], dict[str, Any]]:
        reach, achievable = self.in_reach, self.achievable
        return type(self), (str(self),), {"_in_reach": partial(_same, reach), "_achievable": partial(_same, achievable)}


def _same(value: Any) -> Any:
    return value


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class Threshold:
    """Accept iff confidence > ``value``, with the calibration counts it rests on and what it promises."""

    value: float
    """γ; +inf accepts nothing, −inf every usable row."""
    method: str
    n: int
    """Rows of the calibration sample that it was certified on."""
    accepted: int
    """Those of them above γ."""
    errors: float | None
    """The total loss among these: errors, or costs where the guarantee is about those; None where it is not known."""
    promise: Promise
    further: tuple[Promise, ...] = ()
    """What else holds, together with the promise."""

    def __post_init__(self) -> None:
        if self.value != self.value or not 0 <= self.accepted <= self.n or not 0 <= (self.errors or 0.0) < inf:
            raise ValueError(
                f"A threshold must be a number with counts that fit, got {self.value} with {self.accepted} of {self.n} "
                f"accepted and losses of {self.errors}."
            )

    def accepts(self, confidence: ArrayLike, /) -> NDArray[np.bool_]:
        """Which samples are accepted; NaN never is."""
        return as_doubles("confidence", confidence) > self.value

    def __repr__(self) -> str:
        target = "" if self.promise.target is None else f", target {self.promise.target:g}"
        return f"<Threshold: > {self.value:.6g} by {self.method}{target}; {self.accepted} of {self.n} accepted>"

    def __str__(self) -> str:
        return f"accept iff confidence > {self.value:.6g} ({self.method}): {self.words}"

    def _repr_html_(self) -> str:
        seen = f"{self.accepted:,} of {self.n:,} calibration rows accepted"
        return f"<b>Threshold</b> &gt; {self.value:.6g}, by {escape(self.method)}<br>{escape(self.words)}<br>{seen}"

    @property
    def observed(self) -> str:
        """What the calibration rows show: how many are accepted, and how many of them are wrong or what they cost."""
        share = f"{self.accepted:,} of {self.n:,} calibration rows ({self.accepted / self.n:.1%}) accepted"
        if self.errors is None:
            return share
        if self.promise.quantity == COST:
            return f"{share}, which cost {self.errors:,.6g} in all"
        risk = f" ({self.errors / self.accepted:.2%})" if self.accepted else ""
        return f"{share}, {self.errors:,.4g} of them wrong{risk}"

    @property
    def words(self) -> str:
        """All that is promised."""
        return " And, together with it: ".join(str(promise) for promise in (self.promise, *self.further))


def between(upper: float, lower: float, /) -> float:
    """A threshold strictly between two confidences, so that rounding decides nothing; −inf below all of them."""
    if lower == -inf:
        return -inf
    if isinf(upper):
        return min(lower + max(1.0, abs(lower)), float_info.max)
    middle = lower + (upper - lower) / 2
    return middle if lower < middle < upper else lower


def apart(confidence: NDArray[np.float64], /) -> NDArray[np.bool_]:
    """(n,) of confidences in descending order, after which a threshold can be put: the next is clearly lower.

    A last one, above −inf, always is; what is at −inf can never be accepted.
    """
    following = np.append(confidence[1:], -inf)
    with np.errstate(invalid="ignore"):
        gap = confidence - following
    size = np.maximum(np.abs(np.where(np.isinf(confidence), 0.0, confidence)), 1e-300)
    return (gap > CLOSE * size) & (confidence > -inf)

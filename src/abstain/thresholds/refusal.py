"""The error where no threshold can be certified, and what the same rows certify instead."""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from math import ceil, floor, log10
from typing import Any, final

from abstain._bisection import first_of
from abstain._errors import AbstainError

ELSEWHERE = "use another target on other rows: one chosen on these is not guaranteed"
NOTHING_ACHIEVABLE = "No risk below 1 is achievable"


@final
@dataclass(frozen=True)
class Achievable:
    """A target that can be certified on the sample, and its coverage: the share of the rows, or of the group's.

    Attributes
    ----------
    risk : float
        The risk that can be certified.
    delta : float
        The probability with which the guarantee may fail.
    coverage : float
        The share of the rows accepted, or of the group's.
    group : str or None
        The name of the group; None for all rows.
    """

    risk: float
    delta: float
    coverage: float
    group: str | None = None


class NoSafeThresholdError(AbstainError, ValueError):
    """No threshold can be certified on this calibration sample.

    The message says what was asked for and what to do. What could be certified instead takes a search, which runs when
    `achievable` is first asked for, or for the message by `explained`; `calibrate` raises the explained error.

    Parameters
    ----------
    message : str
        What was asked for.
    advice : str
        What to do, the last sentences of the message.
    delta : float, optional
        The probability of being wrong at which it was tested.
    search : function, optional
        Finds the targets that can be certified, the lowest risk first; None where that is not known.
    describe : function, optional
        A sentence about these; by default a list of them.
    """

    def __init__(
        self,
        message: str,
        /,
        *,
        advice: str = "",
        delta: float | None = None,
        search: Callable[[], tuple[Achievable, ...]] | None = None,
        describe: Callable[[tuple[Achievable, ...]], str] | None = None,
    ) -> None:
        super().__init__(f"{message} {advice}".rstrip())
        self._message, self._advice, self._delta = message, advice, delta
        self._search, self._describe = search, describe
        self._achievable: tuple[Achievable, ...] | None = None

    @property
    def achievable(self) -> tuple[Achievable, ...]:
        """Targets that can be certified on this sample, the lowest risk first; none where that is not known."""
        if self._achievable is None:
            self._achievable = () if self._search is None else self._search()
        return self._achievable

    @property
    def lowest_risk(self) -> float | None:
        """About the lowest risk that can be certified on this sample with the same δ; None where there is none."""
        return next((row.risk for row in self.achievable if row.delta == self._delta), None)

    def explained(self) -> "NoSafeThresholdError":
        """The same error with what is achievable in its message."""
        if self._search is None:
            return self
        describe = self._describe or partial(achievable_words, delta=self._delta)
        return _known(f"{self._message} {describe(self.achievable)}", self._advice, self._delta, self.achievable)

    def with_advice(self, advice: str, /) -> "NoSafeThresholdError":
        """The same error with one more thing to do."""
        return _known(self._message, f"{self._advice} {advice}", self._delta, self.achievable)

    def __reduce__(self) -> tuple[Any, ...]:
        return _known, (self._message, self._advice, self._delta, self.achievable)


def _known(message: str, advice: str, delta: float | None, rows: tuple[Achievable, ...]) -> NoSafeThresholdError:
    """An error whose search is done."""
    error = NoSafeThresholdError(message, advice=advice, delta=delta)
    error._achievable = rows
    return error


def achievable_words(rows: Iterable[Achievable], delta: float | None) -> str:
    """A sentence with each target and its coverage.

    >>> achievable_words([Achievable(0.1, 0.05, 0.46), Achievable(0.02, 0.2, 0.1)], 0.05)
    'Achievable: risk 0.1 at coverage 0.46; risk 0.02 with delta 0.2 at coverage 0.1.'
    """
    chances = {row: "" if row.delta == delta else f" with delta {row.delta:g}" for row in rows}
    listed = [f"risk {row.risk:.2g}{chance} at coverage {row.coverage:.2g}" for row, chance in chances.items()]
    return f"Achievable: {'; '.join(listed)}." if listed else f"{NOTHING_ACHIEVABLE}."


def lowest_achievable(reaches: Callable[[float], bool], risk: float, /, *, guess: float | None = None) -> float | None:
    """About the lowest risk above ``risk`` that can be certified, from a guess on, by bisection; None for none below 1.

    It has two digits, as it is printed, and was tried: asked for, it is certified.
    """
    trials = [trial for trial in rounded_numbers(risk, digits=2) if risk < trial]
    return first_of(trials, reaches, bisect_left(trials, min(guess or 0.0, 0.99)))


def two_digits_up(value: float, /) -> float:
    """The lowest number of two significant digits that is at least ``value``.

    >>> two_digits_up(0.0431), two_digits_up(0.04)
    (0.044, 0.04)
    """
    digits, decade = f"{value:.6e}".split("e")
    return float(f"{ceil(float(digits) * 10)}e{int(decade) - 1}")


def rounded_numbers(least: float, /, *, digits: int) -> list[float]:
    """All numbers below 1 of so many significant digits, from the decade of the least on, ascending.

    >>> rounded_numbers(0.2, digits=1)
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    """
    decades = range(floor(log10(least)) + 1 - digits, 1 - digits)
    return [float(f"{number}e{decade}") for decade in decades for number in range(10 ** (digits - 1), 10**digits)]

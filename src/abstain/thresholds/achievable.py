"""What the same rows certify where the target asked for is too low for them."""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import floor, log10
from typing import final

ELSEWHERE = "use another target on other rows: one chosen on these is not guaranteed"


@final
@dataclass(frozen=True)
class Achievable:
    """A target that can be certified on the sample, and the coverage that it comes with."""

    risk: float
    delta: float
    coverage: float
    """The share of the rows, or of those of the group, that is accepted."""
    group: str | None = None
    """The group that has such a threshold; None where there are no groups."""


def achievable_words(rows: Iterable[Achievable], delta: float, /) -> str:
    """A sentence with each target and its coverage.

    >>> achievable_words([Achievable(0.1, 0.05, 0.46), Achievable(0.02, 0.2, 0.1)], 0.05)
    'Achievable: risk 0.1 at coverage 0.46; risk 0.02 with delta 0.2 at coverage 0.1.'
    """
    chances = {row: "" if row.delta == delta else f" with delta {row.delta:g}" for row in rows}
    listed = [f"risk {row.risk:.2g}{chance} at coverage {row.coverage:.2g}" for row, chance in chances.items()]
    return f"Achievable: {'; '.join(listed)}." if listed else "No risk below 1 is achievable."


def reach_words(lowest: float | None, /) -> str:
    """The words for what `lowest_in_reach` returns."""
    return "no risk below 1 is achievable" if lowest is None else f"a risk of {lowest:.2g} is achievable"


def lowest_in_reach(reaches: Callable[[float], bool], risk: float, /, *, guess: float | None = None) -> float | None:
    """About the lowest risk above ``risk`` that can be certified, from a guess on, by bisection; None for none below 1.

    It has two digits, as it is printed, and was tried: asked for, it is certified.
    """
    trials = [trial for trial in _two_digits(risk) if risk < trial]
    if not trials:
        return None
    start = bisect_left(trials, min(guess or 0.0, 0.99))
    low, high = start - 1, start  # below the guess nothing is looked for
    step = 1
    while not reaches(trials[high]):
        if high == len(trials) - 1:
            return None
        low, high, step = high, min(high + step, len(trials) - 1), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(trials[middle]) else (middle, high)
    return trials[high]


def _two_digits(risk: float) -> list[float]:
    """All numbers of two significant digits from the decade of ``risk`` on, up to 0.99, ascending."""
    decades = range(floor(log10(risk)) - 1, -1)
    return [float(f"{digits}e{decade}") for decade in decades for digits in range(10, 100)]

"""Bisection: the first real number, integer or trial at which a condition holds."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Ints

T = TypeVar("T")


def first_number(holds: Callable[[float], bool], low: float, high: float, /, *, within: float) -> float:
    """The first number above ``low`` at which it holds, or at most so much more; ``high`` where it never does.

    >>> round(first_number(lambda x: x * x >= 2, 0.0, 2.0, within=1e-9), 6)
    1.414214
    """
    while high - low > within:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def first_integers(holds: Callable[[Ints], NDArray[np.bool_]], low: Ints, high: Ints, /) -> Ints:
    """(n,) the first integers above ``low`` at which each holds; ``high`` where it does not before.

    >>> first_integers(lambda k: k * k >= np.array([5, 16]), np.array([0, 0]), np.array([9, 9]))
    array([3, 4])
    """
    while (high - low > 1).any():
        middle = (low + high) // 2
        here = holds(middle)
        low, high = np.where(here, low, middle), np.where(here, middle, high)
    return high


def first_of(trials: Sequence[T], holds: Callable[[T], bool], guess: int, /) -> T | None:
    """The first of the trials at which it holds, looked for from the index of a guess on; None for none.

    Steps double, down or up, before they are halved.

    >>> first_of(range(100), lambda k: k * k >= 500, 3)
    23
    """
    last, step = len(trials) - 1, 1
    low, high = guess - 1, guess
    while 0 <= low <= last and holds(trials[low]):
        low, high, step = max(low - step, -1), low, 2 * step
    while high > last or not holds(trials[high]):
        if high >= last:
            return None
        low, high, step = high, min(high + step, last), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(trials[middle]) else (middle, high)
    return trials[high]

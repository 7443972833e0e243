"""Ranks at which the binomial test of a risk is nearly exact: all that `step_down` tests where errors are few."""

from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
SLACK = 1e-9  # of the level, on the safe side of rounding


def at_most(errors: ArrayLike, n: ArrayLike, rate: float, /) -> Floats:
    """P(Bin(n, rate) ≤ errors), 0 for fewer than none, for any n."""
    k, n = np.asarray(errors), np.asarray(n)
    inside = betainc(np.maximum(n - k, 1), np.maximum(k, 0) + 1.0, 1 - rate)
    return np.where(k < 0, 0.0, np.where(k >= n, 1.0, inside))


def errors_allowed(ranks: Ints, risk: float, level: ArrayLike, /) -> Ints:
    """(J,) the largest numbers of errors among so many rows that reject "the risk is above" at a level, −1 for none."""
    low, high = np.full(len(ranks), -1), np.array(ranks)
    limit = np.asarray(level) * (1 - SLACK)
    while (high - low > 1).any():
        middle = (low + high) // 2
        rejects = at_most(middle, ranks, risk) <= limit
        low, high = np.where(rejects, middle, low), np.where(rejects, high, middle)
    return low


def efficient_ranks(risk: float, level: float, first: int, last: int, /) -> Ints:
    """The ranks n_c = min{k: P(Bin(k, risk) ≤ c) ≤ level} from ``first`` to ``last``, ascending.

    Each allows one more error than the rank before it; between them a part of the level is lost.

    >>> efficient_ranks(0.05, 0.1, 1, 160)
    array([ 45,  77, 105, 132, 158])
    """
    if first > last:
        return np.empty(0, dtype=np.int64)
    before, most = errors_allowed(np.array([first - 1, last]), risk, level)
    errors = np.arange(before + 1, most + 1)
    low, high = np.full(len(errors), first - 1), np.full(len(errors), last)
    while (high - low > 1).any():
        middle = (low + high) // 2
        rare = at_most(errors, middle, risk) <= level * (1 - SLACK)
        low, high = np.where(rare, low, middle), np.where(rare, middle, high)
    return high


def nearest_efficient(rank: int, risk: float, level: float, /, *, first: int, last: int) -> int:
    """The efficient rank nearest to ``rank``, from ``first`` to ``last``; ``rank`` itself where there is none."""
    apart = ceil(4 / risk)  # two neighbours never are so far
    near = efficient_ranks(risk, level, max(first, rank - apart), min(last, rank + apart))
    return int(near[np.argmin(np.abs(near - rank))]) if len(near) else rank

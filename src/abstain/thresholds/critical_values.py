r"""How few errors among the k most trusted rows reject "the risk is above r", from every rank on: for `step_down`.

Let W be a walk that goes up by 1 with probability r at each step. A boundary b is a number for each rank; the family
here is b_k(μ) = the largest c with P(Bin(k, r) ≤ c) ≤ μ·exp(−k/(hn)), so that most of the chance to cross is spent near
the first rank. For each rank m and level l the largest μ is sought with P(∃ k ≥ m: W_k ≤ b_k(μ)) ≤ l. As the event
shrinks with m and grows with μ, what is found grows with m and with l, as the theorem of `step_down` needs. The chances
are those of the walk itself, exactly: one sweep back through the ranks gives them for every m at once.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, inf, log

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaln, xlog1py, xlogy

from abstain._arrays import Floats, Ints
from abstain._bisection import first_integers
from abstain._kernels.bets import RandomWalk, crossing_chances
from abstain._kernels.blocks import for_each_block

DECAY = 0.05  # h
NEGLIGIBLE = 1e-3  # of the level: below it a rank is not tested at all
TAIL = 7.0  # standard deviations of the walk that are followed
SLACK = 1e-9  # on the safe side of rounding and of what lies beyond
MARGIN = 1e-9  # of the level, on the safe side of rounding
FINENESS = ((8_000, 1500, 0.05), (200_000, 480, 0.08), (inf, 120, 0.12))  # up to n rows: cells, spacing of log μ


@dataclass(frozen=True)
class CriticalValues:
    """The numbers of errors that reject, by the cell in which testing begins and the cell tested."""

    ranks: Ints
    """(J,) the first rank of each cell, ascending; a cell ends before the next, the last one with ``last``."""
    last: int
    boundaries: NDArray[np.int32]
    """(M, J) boundaries of the family, −1 where nothing rejects."""
    chosen: Ints
    """(J,) the boundary to use from each cell on, −1 for none."""

    def beginning(self, cell: int, /) -> NDArray[np.int32]:
        """(J − cell,) critical values of this cell and those after it, where testing begins with it."""
        row = self.chosen[cell]
        return self.boundaries[row, cell:] if row >= 0 else np.full(len(self.ranks) - cell, -1, dtype=np.int32)


@lru_cache(maxsize=32)
def critical_values(
    n: int, risk: float, first: int, last: int, levels: tuple[float, ...]
) -> tuple[CriticalValues, ...]:
    """Critical values for the ranks from ``first`` to ``last`` of n rows, for each of the levels."""
    spacing = next(spacing for limit, _, spacing in FINENESS if n <= limit)
    ranks = first_ranks(n, first, last)
    offsets = ranks / (DECAY * n)
    lowest, highest = log(min(levels)) - 3 + offsets[0], log(max(levels)) + 2 + offsets[-1]
    spent = np.arange(lowest, highest, spacing)[:, None] - offsets
    spent[spent < log(NEGLIGIBLE * min(levels))] = -inf
    bottoms, chances_at = walk_chances(ranks, risk)
    boundaries = _boundaries(bottoms, chances_at, np.exp(np.minimum(spent, 0.0)))
    crossing = _crossing(ranks, risk, bottoms, chances_at, boundaries, max(levels)) + SLACK
    stored = boundaries.astype(np.int32)
    stored.flags.writeable = False
    tables = []
    for level in levels:
        enough = crossing <= level
        chosen = np.where(enough.any(axis=0), len(enough) - 1 - np.argmax(enough[::-1], axis=0), -1)
        tables.append(CriticalValues(ranks, last, stored, chosen))
    return tuple(tables)


def first_ranks(n: int, first: int, last: int, /) -> Ints:
    """(J,) the first rank of each cell."""
    cells = next(cells for limit, cells, _ in FINENESS if n <= limit)
    return np.unique(np.linspace(first, last + 1, min(cells, last - first + 1) + 1).astype(np.int64)[:-1])


def walk_chances(steps: Ints, risk: float, /) -> tuple[Ints, Floats]:
    """(J,) the lowest position followed after each number of steps, (J, w) the chances of it and of those above.

    The walk is outside these positions with a probability below 1e-11.
    """
    middle, spread = steps * risk, TAIL * np.sqrt(steps * risk * (1 - risk)) + 12
    bottoms = np.maximum(0, np.floor(middle - spread)).astype(np.int64)
    width = int(np.max(np.minimum(steps, np.ceil(middle + spread)) - bottoms)) + 1
    at, k = bottoms[:, None] + np.arange(width), steps[:, None]
    left = np.maximum(k - at, 0)
    chances = np.exp(xlogy(at, risk) + xlog1py(left, -risk) - betaln(left + 1, at + 1) - np.log(k + 1))
    return bottoms, np.where(at <= k, chances, 0.0)


def _boundaries(bottoms: Ints, chances_at: Floats, spent: Floats) -> Ints:
    """The largest numbers of errors with probability at most ``spent`` (M, J), −1 where none is as rare."""
    below = np.cumsum(chances_at, axis=1)
    each = [np.searchsorted(below[j], spent[:, j], side="right") for j in range(len(bottoms))]
    return bottoms + np.stack(each, axis=1) - 1


def _crossing(ranks: Ints, risk: float, bottoms: Ints, chances_at: Floats, boundaries: Ints, enough: float) -> Floats:
    """P(∃ k ≥ m: W_k ≤ b_k) for each boundary and each rank m, (M, J); 1 where it is above ``enough``."""
    distances, kinds = np.unique(np.append(np.diff(ranks), 1), return_inverse=True)
    least, steps = walk_chances(distances, risk)
    walk, chances = RandomWalk(bottoms, chances_at, kinds, steps, least), np.ones(boundaries.shape)

    def work(rows: slice) -> None:
        crossing_chances(boundaries[rows], walk, enough, chances[rows])

    for_each_block(work, len(boundaries), chances_at.size // 4)
    return chances


def at_most(errors: ArrayLike, n: ArrayLike, rate: float, /) -> Floats:
    """P(Bin(n, rate) ≤ errors), 0 for fewer than none, for any n."""
    k, n = np.asarray(errors), np.asarray(n)
    inside = betainc(np.maximum(n - k, 1), np.maximum(k, 0) + 1.0, 1 - rate)
    return np.where(k < 0, 0.0, np.where(k >= n, 1.0, inside))


def errors_allowed(ranks: Ints, risk: float, level: ArrayLike, /) -> Ints:
    """(J,) the largest numbers of errors among so many rows that reject "the risk is above" at a level, −1 for none."""
    limit = np.asarray(level) * (1 - MARGIN)
    too_many = first_integers(lambda errors: at_most(errors, ranks, risk) > limit, np.full(len(ranks), -1), ranks)
    return too_many - 1


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
    limit = level * (1 - MARGIN)
    low, high = np.full(len(errors), first - 1), np.full(len(errors), last)
    return first_integers(lambda ranks: at_most(errors, ranks, risk) <= limit, low, high)


def nearest_efficient(rank: int, risk: float, level: float, /, *, first: int, last: int) -> int:
    """The efficient rank nearest to ``rank``, from ``first`` to ``last``; ``rank`` itself where there is none."""
    apart = ceil(4 / risk)  # neighbouring efficient ranks are closer
    near = efficient_ranks(risk, level, max(first, rank - apart), min(last, rank + apart))
    return int(near[np.argmin(np.abs(near - rank))]) if len(near) else rank

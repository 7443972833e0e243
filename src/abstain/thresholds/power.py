"""How likely `step_down` is to succeed, by its own segments, cells and levels."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from abstain.thresholds.critical_values import DECAY, NEGLIGIBLE, critical_values, first_ranks, walk_places
from abstain.thresholds.step_down import FEW, segments

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
FEW_ERRORS = 60  # n·risk, up to which the critical values are those of the rule, and beyond which they are bounded
SPENT = 0.4  # of its level: the least that a test in the segment of the first start has; tested against the rule
SPENT_LOWER = 0.1  # the same in those of the lower starts, which spend it on more tests
GONE = 1e-15  # chances that are left aside


class Cells(NamedTuple):
    """The cells of a segment, and how few errors reject in each."""

    first: Ints
    """(J,) the first rank of each cell."""
    last: Ints
    in_turn: Ints
    """(J,) the errors allowed if all cells before have passed; −1 where nothing rejects."""
    at_once: Ints
    """(J,) those allowed if none has."""


def likely(n: int, accepted: int, /, *, risk: float, delta: float, error_rate: float, power: float) -> bool:
    """Whether `step_down` accepts at least ``accepted`` of n rows with probability ``power``, whatever the others are.

    The accepted are wrong at one rate, or at a lower one the more they are trusted. Either all cells up to the last of
    them pass in turn, or the last passes at what the segment began with; the more likely of the two counts, and nothing
    that a segment leaves to the next.
    """
    for number, segment in enumerate(segments(n, risk, delta) if n > FEW else []):
        if segment.first <= accepted <= segment.last:
            cells = cells_of(n, number, risk, delta)
            cell = int(np.searchsorted(cells.first, accepted, side="right")) - 1
            if at_most(cells.at_once[cell], accepted, error_rate) >= power:
                return True
            ends = np.append(cells.last[:cell], accepted)
            limits = cells.in_turn[: cell + 1]
            singly = at_most(limits, ends, error_rate)
            return bool(singly.min() >= power) and _all_in_turn(ends, limits, error_rate) >= power
    return False


@lru_cache(maxsize=512)
def cells_of(n: int, number: int, risk: float, delta: float) -> Cells:
    """The tests of one of the segments, none of them with more errors than the rule allows."""
    parts = segments(n, risk, delta)
    segment = parts[number]
    levels = tuple(delta * sum(part.share for part in parts[begin : number + 1]) for begin in range(number, -1, -1))
    ranks = first_ranks(n, segment.first, segment.last)
    last = np.append(ranks[1:] - 1, segment.last)
    if n * risk <= FEW_ERRORS:
        table = critical_values(n, risk, segment.first, segment.last, levels)[0]
        diagonal = np.array([table.beginning(cell)[0] for cell in range(len(ranks))], dtype=np.int64)
        return Cells(ranks, last, diagonal, table.beginning(0).astype(np.int64))
    level = levels[0] * (SPENT if segment.last == n else SPENT_LOWER)
    fading = level * np.exp((segment.first - ranks) / (DECAY * n))
    at_once = np.where(fading > NEGLIGIBLE * levels[0], _allowed(ranks, risk, fading), -1)
    return Cells(ranks, last, _allowed(ranks, risk, np.full(len(ranks), level)), at_once)


def at_most(errors: ArrayLike, n: ArrayLike, rate: float, /) -> Floats:
    """P(Bin(n, rate) ≤ errors), 0 for fewer than none, for any n."""
    k, n = np.asarray(errors), np.asarray(n)
    inside = betainc(np.maximum(n - k, 1), np.maximum(k, 0) + 1.0, 1 - rate)
    return np.where(k < 0, 0.0, np.where(k >= n, 1.0, inside))


def _allowed(ranks: Ints, risk: float, levels: Floats) -> Ints:
    """(J,) the largest numbers of errors that reject at these levels, −1 for none."""
    low, high = np.full(len(ranks), -1), ranks.copy()
    while (high - low > 1).any():
        middle = (low + high) // 2
        rejects = at_most(middle, ranks, risk) <= levels
        low, high = np.where(rejects, middle, low), np.where(rejects, high, middle)
    return low


def _all_in_turn(ends: Ints, limits: Ints, error_rate: float) -> float:
    """P(a walk that goes up at this rate is at most at each limit at each end)."""
    if not error_rate:
        return float((limits >= 0).all())
    bottoms, steps = walk_places(np.diff(ends, prepend=0), error_rate)
    walk, bottom = np.ones(1), 0
    for step, least, limit in zip(steps, bottoms.tolist(), limits.tolist(), strict=True):
        walk = np.convolve(walk, step[: np.flatnonzero(step > GONE)[-1] + 1])
        bottom += least
        kept = np.flatnonzero(walk[: max(limit - bottom + 1, 0)] > GONE)
        if not kept.size:
            return 0.0
        walk, bottom = walk[kept[0] : kept[-1] + 1], bottom + int(kept[0])
    return float(walk.sum())

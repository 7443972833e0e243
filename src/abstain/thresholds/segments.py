"""`segments`: the ranks that step-down tests together, and what each segment has of δ, all fixed beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np

from abstain._arrays import Ints
from abstain.thresholds.binomial import samples_needed
from abstain.thresholds.critical_values import efficient_ranks, errors_allowed, nearest_efficient

STARTS = (0.305, 0.08, 0.02, 0.005)  # coverages at which testing begins; chosen for the best worst case, see the docs
START = 0.3  # the same for the first of them where errors are few
MAIN_SHARE = 0.88  # of δ, at the first of them; the others share the rest
APART = 0.5  # a start is left out unless it is below that much of the next
FEW_ERRORS = (8.0, 50.0)  # n·risk between which efficient ranks alone are tested: chosen as the starts were


def few_errors(n: int, risk: float, /) -> bool:
    """Whether efficient ranks alone are tested: n and the risk decide, so that it is fixed beforehand."""
    return FEW_ERRORS[0] <= n * risk <= FEW_ERRORS[1]


@dataclass(frozen=True)
class Segment:
    """Ranks that are tested together, and what their tests have of δ."""

    first: int
    last: int
    share: float


@lru_cache(maxsize=256)
def segments(n: int, risk: float, delta: float, /, *, first: int = 1) -> tuple[Segment, ...]:
    """The segments of n rows, ascending, from ``first`` on; they depend on nothing else, so they are fixed beforehand.

    None begins where even no error would not be rare enough, and where errors are few each begins at an efficient rank.
    """
    starts = _starts(n, risk, delta, first)
    parts: list[Segment] = []
    last = n
    for fraction, usual in starts.items():
        share = 1.0 if len(starts) == 1 else (1 - MAIN_SHARE) / (len(starts) - 1) if parts else MAIN_SHARE
        if n * risk <= FEW_ERRORS[1]:
            near = max(first, ceil(min(fraction, START) * n), samples_needed(risk, share * delta))
            start = nearest_efficient(near, risk, share * delta, first=first, last=last)
        else:
            start = usual
        parts.append(Segment(start, last, share))
        last = start - 1
    return tuple(parts[::-1])


def levels_of(parts: Sequence[Segment], number: int, delta: float, /) -> tuple[float, ...]:
    """The levels of a segment: its own, then with those of one segment, two segments and so on before it."""
    return tuple(delta * sum(part.share for part in parts[begin : number + 1]) for begin in range(number, -1, -1))


def _starts(n: int, risk: float, delta: float, first: int) -> dict[float, int]:
    """The ranks of those `STARTS` that lie apart and where no error would be rare enough, descending.

    How many there are decides what each has of δ: the first is judged as if it were alone, the others by the least.
    """
    starts: dict[float, int] = {}
    share, below = 1.0, n + 1.0
    for fraction in STARTS:
        start = max(first, ceil(fraction * n), samples_needed(risk, share * delta))
        if start < below:
            starts[fraction] = start
            share, below = (1 - MAIN_SHARE) / (len(STARTS) - 1), APART * start
    return starts


@lru_cache(maxsize=256)
def tested_in_turn(segment: Segment, risk: float, own: float, level: float, /) -> tuple[Ints, Ints]:
    """The efficient ranks of a segment at its own level, and the errors that each allows at the level it has."""
    ranks = np.union1d(segment.first, efficient_ranks(risk, own, segment.first, segment.last))
    return ranks, errors_allowed(ranks, risk, level)

"""Thresholds proposed by a pilot, tested one after the other, where each that passes lends its level to the next."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from abstain._arrays import Floats
from abstain.thresholds.threshold import between

T = TypeVar("T")
PILOT = 0.15
PILOT_SHARE = 0.9  # of δ, at half the coverage that looks safe on the pilot; the rest insures against its errors
STARTS = (0.2, 0.4)
POINTS = 96


def proposed(confidence: Floats, weights: Floats, safe: float | None, /) -> list[tuple[float, float]]:
    """(threshold, share of δ) from high to low at coverages of a pilot, ``safe`` being what looks safe there.

    The pilot may be used in any way: what is proposed costs coverage where it is bad, but no validity.
    """
    weights = weights if weights.any() else np.ones(len(weights))  # a pilot without weight proposes all the same
    order = np.argsort(-confidence, kind="stable")
    c = np.append(confidence[order], -np.inf)
    covered = np.cumsum(weights[order]) / weights.sum()
    start = 0.25 if safe is None else 0.5 * safe
    shares = dict.fromkeys(STARTS, (1 - PILOT_SHARE) / len(STARTS))
    shares[start] = shares.get(start, 0.0) + PILOT_SHARE
    coverages = np.union1d(np.linspace(min(shares), 1.0, POINTS), list(shares))
    ranks = np.minimum(np.searchsorted(covered, coverages * (1 - 1e-12)) + 1, len(confidence))
    return [
        (between(float(c[rank - 1]), float(c[rank])), shares.get(float(coverage), 0.0))
        for rank, coverage in zip(ranks, coverages, strict=True)
    ]


def certified_in_turn(
    sequence: Sequence[tuple[T, float]], passes: Callable[[T, tuple[float, ...]], bool], delta: float, /
) -> list[T]:
    """The thresholds (or ranks) that pass, each tested at its own share of δ and what those before it passed on.

    ``passes(threshold, levels)`` must be a valid test at the first of the levels of a threshold fixed beforehand, and
    pass at every higher level where it passes at one: the levels are all from that one on at which a threshold may come
    to be tested. Then P(any passes whose hypothesis is true) ≤ δ. (Wiens, 2003)
    """
    passed, level, levels = [], 0.0, _possible_levels([share for _, share in sequence if share], delta)
    for threshold, share in sequence:
        level += share * delta
        if level and passes(threshold, tuple(levels[levels > level * (1 - 1e-9)])):
            passed.append(threshold)
        else:
            level = 0.0
    return passed


def _possible_levels(shares: list[float], delta: float) -> Floats:
    """Every level at which a threshold may come to be tested, ascending."""
    sums = (sum(shares[first:last]) for first in range(len(shares)) for last in range(first + 1, len(shares) + 1))
    return delta * np.unique(list(sums))


def looks_safe(confidence: Floats, excess: Floats, weights: Floats, /) -> float | None:
    """The largest coverage at which the mean of ``excess`` over the accepted is at most 0; None if there is none."""
    order = np.argsort(-confidence, kind="stable")
    safe = np.flatnonzero(np.cumsum((weights * excess)[order]) <= 0)
    return float(weights[order][: safe[-1] + 1].sum() / weights.sum()) if safe.size and weights.any() else None

"""Thresholds proposed by a pilot, tested one after the other, where each that passes lends its level to the next."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from abstain.thresholds.threshold import between

Floats = NDArray[np.float64]
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


def lowest_certified(
    sequence: list[tuple[float, float]], passes: Callable[[float, float], bool], delta: float, /
) -> float:
    """The last threshold that passes, +inf if none does: each is tested at its own share of δ and what is passed on.

    ``passes(threshold, level)`` must be a valid test at each level of a threshold fixed beforehand, and pass at every
    higher level where it passes at one; then P(any passes whose hypothesis is true) ≤ δ. (Wiens, 2003)
    """
    value, level = np.inf, 0.0
    for threshold, share in sequence:
        level += share * delta
        if level and passes(threshold, level):
            value = threshold
        else:
            level = 0.0
    return value


def possible_levels(sequence: list[tuple[float, float]], delta: float, /) -> list[float]:
    """Every level at which a threshold of the sequence may come to be tested, ascending."""
    shares = [share for _, share in sequence if share]
    sums = (sum(shares[first:last]) for first in range(len(shares)) for last in range(first + 1, len(shares) + 1))
    return sorted({delta * total for total in sums})


def looks_safe(confidence: Floats, excess: Floats, weights: Floats, /) -> float | None:
    """The largest coverage at which the mean of ``excess`` over the accepted is at most 0; None if there is none."""
    order = np.argsort(-confidence, kind="stable")
    safe = np.flatnonzero(np.cumsum((weights * excess)[order]) <= 0)
    return float(weights[order][: safe[-1] + 1].sum() / weights.sum()) if safe.size and weights.any() else None

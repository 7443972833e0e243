"""One point of the risk–coverage curve, by its coverage or by its risk."""

from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from abstain.arguments import check_number
from abstain.metrics.checks import check_share
from abstain.metrics.groups import Groups, accepted_at, group
from abstain.metrics.risk_coverage import curve


def risk_at_coverage(
    confidence: ArrayLike, losses: ArrayLike, /, *, coverage: float, weights: ArrayLike | None = None
) -> float:
    """Risk of the smallest whole number of most trusted samples that makes up ``coverage``.

    A cut inside a tie gives the expected risk over the orders of the tie, which no threshold attains;
    ``risk_coverage(…).reaches(coverage)`` tells.

    >>> risk_at_coverage([0.9, 0.8, 0.8, 0.1], [0, 1, 0, 1], coverage=0.5)
    0.25
    """
    return risk_at(group(confidence, losses, weights=weights), coverage)


def risk_at(groups: Groups, coverage: float, /) -> float:
    """Expected risk of the first rows of the ranking that make up ``coverage``."""
    check_share("coverage", coverage)
    ends = np.cumsum(groups.weights)
    is_weighted = (groups.weights != groups.counts).any()
    goal = coverage * ends[-1] * (1 - 1e-12) if is_weighted else float(accepted_at(groups.n, coverage))
    g = min(int(np.searchsorted(ends, goal)), len(ends) - 1)
    before = ends[g] - groups.weights[g]
    each = groups.weights[g] / groups.counts[g]
    inside = min(max(1, ceil((goal - before) / each)), groups.counts[g])
    loss = groups.losses[:g].sum() + groups.losses[g] * inside / groups.counts[g]
    return float(loss / (before + inside * each))


def coverage_at_risk(
    confidence: ArrayLike, losses: ArrayLike, /, *, risk: float, weights: ArrayLike | None = None
) -> float:
    """The largest coverage some threshold reaches at which the observed risk is at most ``risk``; 0 if there is none.

    It describes this sample and promises nothing about the next.

    >>> coverage_at_risk([0.9, 0.8, 0.7, 0.1], [0, 1, 0, 1], risk=0.4)
    0.75
    """
    return coverage_at(group(confidence, losses, weights=weights), risk)


def coverage_at(groups: Groups, risk: float, /) -> float:
    """The largest coverage that a threshold reaches on these groups at an observed risk of at most ``risk``, or 0."""
    check_number("risk", risk)
    if not 0 <= risk <= 1:
        raise ValueError(f"`risk` must be between 0 and 1, got {risk}.")
    found = curve(groups)
    kept = found.coverage[found.risk <= risk * (1 + 1e-12)]
    return float(kept[-1]) if kept.size else 0.0

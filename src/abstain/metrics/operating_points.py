"""One point of the risk–coverage curve, by its coverage or by its risk."""

from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from abstain.arguments import check_number
from abstain.kernels.areas import expected_risks
from abstain.metrics.ranking import check_share, rank
from abstain.metrics.risk_coverage import risk_coverage


def risk_at_coverage(
    confidence: ArrayLike, losses: ArrayLike, /, *, coverage: float, weights: ArrayLike | None = None
) -> float:
    """Risk of the smallest whole number of most trusted samples that makes up ``coverage``.

    A cut inside a tie gives the expected risk over the orders of the tie, which no threshold attains;
    ``risk_coverage(…).reaches(coverage)`` tells.

    >>> risk_at_coverage([0.9, 0.8, 0.8, 0.1], [0, 1, 0, 1], coverage=0.5)
    0.25
    """
    check_share("coverage", coverage)
    ranking = rank(confidence, losses, weights=weights)
    ends = np.cumsum(np.repeat(ranking.weights / ranking.counts, ranking.counts))
    if weights is None:
        last = ceil(coverage * ranking.n - 1e-9) - 1
    else:
        last = int(np.searchsorted(ends, coverage * ends[-1] * (1 - 1e-12)))
    return float(expected_risks(ranking.counts, ranking.weights, ranking.losses)[max(0, min(last, ranking.n - 1))])


def coverage_at_risk(
    confidence: ArrayLike, losses: ArrayLike, /, *, risk: float, weights: ArrayLike | None = None
) -> float:
    """The largest coverage some threshold reaches at which the observed risk is at most ``risk``; 0 if there is none.

    It describes this sample and promises nothing about the next.

    >>> coverage_at_risk([0.9, 0.8, 0.7, 0.1], [0, 1, 0, 1], risk=0.4)
    0.75
    """
    check_number("risk", risk)
    if not 0 <= risk <= 1:
        raise ValueError(f"`risk` must be between 0 and 1, got {risk}.")
    curve = risk_coverage(confidence, losses, weights=weights)
    kept = curve.coverage[curve.risk <= risk * (1 + 1e-12)]
    return float(kept[-1]) if kept.size else 0.0

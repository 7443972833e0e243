"""Paired comparison of two scores on the same samples."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from abstain.metrics.clusters import cluster_sums, standard_error
from abstain.metrics.intervals import FEW_ERRORS, Estimate, check_level, estimate, fay_feuer, mover
from abstain.metrics.ranking import rank


@dataclass(frozen=True)
class Comparison:
    """AURC-α of score a minus that of score b: below zero means a is better."""

    difference: float
    se: float
    low: float
    high: float

    @property
    def is_significant(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


def compare(
    conf_a: ArrayLike,
    conf_b: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    alpha: float = 1.0,
    ids: ArrayLike | None = None,
    level: float = 0.95,
) -> Comparison:
    """Paired difference of two AURC-α on the same samples, with its standard error and interval.

    Pairing makes the interval much shorter than two separate ones, since both scores meet the same errors.
    Samples with the same ``ids`` are one cluster. Where fewer than 50 errors tell the scores apart, the interval
    joins the Fay–Feuer intervals of the errors that speak for a and of those that speak for b, with a milder allowance
    for errors not seen.

    >>> errors = [0, 0, 1, 0, 0, 1, 0, 1, 1, 1]
    >>> a, b = [9.5, 9, 8.5, 8, 7, 6, 5, 4, 3, 2], [9, 9.5, 2, 8, 6, 7, 5, 3, 4, 8.5]
    >>> round(compare(a, b, errors).difference, 10)
    -0.02
    """
    a, b = (estimate(rank(confidence, losses), alpha=alpha, ids=ids, level=level) for confidence in (conf_a, conf_b))
    return paired(a, b, np.asarray(losses, dtype=np.float64), ids=ids, level=level)


def _unseen(weights: NDArray[np.float64]) -> float:
    """The weight an error not seen may have: one and a half root mean squares, where Fay and Feuer take the largest.

    With the largest, that of the first rank, a good score was told from a random one in 0 to 16% of simulated runs with
    few errors, and in 15 to 77% with this; the 95% interval held in 97% or more, and 1 to 5% of equal scores were
    called different.
    """
    reached = np.sort(weights[weights > 0])
    return float(min(reached[-1], 1.5 * np.sqrt(np.square(reached).mean()))) if reached.size else 0.0


def paired(
    a: Estimate, b: Estimate, losses: NDArray[np.float64], /, *, ids: ArrayLike | None, level: float
) -> Comparison:
    """Compare two estimates made on the same samples."""
    check_level(level)
    difference = a.value - b.value
    se = standard_error(a.influence.centred - b.influence.centred, ids)
    share = a.influence.share - b.influence.share
    added = cluster_sums(share * losses, ids)
    if np.count_nonzero(added) >= FEW_ERRORS:
        half = ndtri((1 + level) / 2) * se
        return Comparison(difference, se, difference - half, difference + half)
    sides = []
    for sign in (1.0, -1.0):
        events = np.maximum(sign * added, 0.0)
        unseen = _unseen(cluster_sums(np.maximum(sign * share, 0.0), ids))
        sides.append((float(np.sort(events).sum()), *fay_feuer(events, largest=unseen, level=level)))
    return Comparison(difference, se, *mover(*sides))

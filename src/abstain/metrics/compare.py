"""Paired comparison of two scores on the same samples."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from abstain.kernels.areas import reaches_differences
from abstain.kernels.sums import exact_sum, squared_distance
from abstain.metrics.checks import check_level
from abstain.metrics.clusters import Clusters, cluster_sums, error_of_mean, standard_error
from abstain.metrics.influence import Influence
from abstain.metrics.intervals import FEW_ERRORS, Estimate, estimates, fay_feuer, mover
from abstain.metrics.ranking import rank

Floats = NDArray[np.float64]


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
    first = rank(conf_a, losses, ids=ids)
    a, b = (estimates(each, alphas=[alpha], level=level)[0] for each in (first, first.rows.rank(conf_b)))
    return paired(a, b, level=level)


def _unseen(weights: Floats) -> float:
    """The weight an error not seen may have: one and a half root mean squares, where Fay and Feuer take the largest.

    With the largest, that of the first rank, a good score was told from a random one in 0 to 16% of simulated runs with
    few errors, and in 15 to 77% with this; the 95% interval held in 97% or more, and 1 to 5% of equal scores were
    called different.
    """
    reached = weights[weights > 0]
    if not reached.size:
        return 0.0
    return float(min(reached.max(), 1.5 * np.sqrt(exact_sum(np.square(reached)) / reached.size)))


def paired(a: Estimate, b: Estimate, /, *, level: float = 0.95) -> Comparison:
    """Compare two estimates made on the same rows."""
    check_level(level)
    if a.ranking is None or b.ranking is None or a.ranking.rows is not b.ranking.rows:
        raise ValueError("A paired comparison must have two rankings of the same rows. Rank both by one `Rows`.")
    rows, difference = a.ranking.rows, a.value - b.value
    se = _standard_error(a.influence.centred, b.influence.centred, rows.clusters)
    if _tell_apart(a.influence, b.influence, FEW_ERRORS):
        half = ndtri((1 + level) / 2) * se
        return Comparison(difference, se, difference - half, difference + half)
    share = a.influence.share - b.influence.share
    added = cluster_sums(share * rows.losses, rows.clusters)
    sides = []
    for sign in (1.0, -1.0):
        events = np.maximum(sign * added, 0.0)
        unseen = _unseen(cluster_sums(np.maximum(sign * share, 0.0), rows.clusters))
        total = exact_sum(events)
        sides.append((total, *fay_feuer(total, exact_sum(np.square(events)), unseen, level=level)))
    return Comparison(difference, se, *mover(*sides))


def _standard_error(a: Floats, b: Floats, clusters: Clusters | None) -> float:
    """Of the mean of a − b; without clusters in one pass."""
    return error_of_mean(squared_distance(a, b), len(a)) if clusters is None else standard_error(a - b, clusters)


def _tell_apart(a: Influence, b: Influence, enough: int) -> bool:
    """Whether ``enough`` errors, or clusters of them, have another share in one area than in the other."""
    rows = a.ranking.rows
    if rows.clusters is None:
        sides = a.group_share, a.ranking.group, b.group_share, b.ranking.group
        return bool(reaches_differences(*sides, rows.losses, enough))
    return bool(np.count_nonzero(cluster_sums((a.share - b.share) * rows.losses, rows.clusters)) >= enough)

"""A share of rows with an interval that counts a cluster once."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.kernels.sums import exact_sum
from abstain.metrics.checks import check_level, check_losses
from abstain.metrics.clusters import Clusters, cluster_sums

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Share:
    """A share, its standard error and its interval."""

    value: float
    se: float
    low: float
    high: float


def share(losses: ArrayLike, /, *, ids: ArrayLike | None = None, level: float = 0.95) -> Share:
    """The mean loss of rows, such as their share of errors, with the interval of Korn and Graubard (1998).

    It is Clopper and Pearson's for the number of independent rows that would have the same standard error. Rows with
    the same ``ids`` are one cluster, taken for a draw among all clusters, so that their number may vary too.

    >>> found = share([0, 0, 0, 1])
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.25, 0.006, 0.806)
    """
    check_level(level)
    each = check_losses(losses, None)[0].astype(np.float64)
    clusters, n = Clusters.of(ids, len(each)), len(each)
    value = exact_sum(each) / n
    sums = cluster_sums(each - value, clusters)
    c = len(sums)
    se = sqrt(exact_sum(np.square(sums)) * c / (c - 1)) / n if c > 1 else 0.0
    low, high = korn_graubard(*map(np.array, ([value], [se], [n], [c])), level=level)
    return Share(value, se, float(low[0]), float(high[0]))


def korn_graubard(
    value: Floats, se: Floats, rows: NDArray[np.int64], clusters: NDArray[np.int64], /, *, level: float
) -> tuple[Floats, Floats]:
    """Intervals of shares (m,) from their standard errors and the numbers of rows and clusters that they are of.

    Where the standard error is 0, because all rows are alike, every cluster counts as one row, and no share counts for
    more rows than there are.
    """
    from scipy.special import betaincinv, stdtrit

    outside = (1 - level) / 2
    spread = value * (1 - value)
    alike = (se <= 0) | (spread <= 0) | (clusters < 2)
    of_rows, of_clusters = np.maximum(rows - 1, 1), np.maximum(clusters - 1, 1)  # degrees of freedom
    same = spread / np.where(alike, 1.0, np.square(se)) * (rows / of_rows)
    size = np.where(alike, clusters, np.minimum(same, rows))
    size = size * np.square(stdtrit(of_rows, outside) / stdtrit(of_clusters, outside))
    hits = value * size
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-300), size - hits + 1, outside), 0.0)
    high = np.where(hits < size, betaincinv(hits + 1, np.maximum(size - hits, 1e-300), 1 - outside), 1.0)
    return np.minimum(low, value), np.maximum(high, value)

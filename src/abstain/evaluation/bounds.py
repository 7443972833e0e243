"""Upper confidence bounds of the selective risk, each for itself."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from abstain._arrays import Bools, Floats, Ints
from abstain._kernels.ranking import Order
from abstain.metrics.accepted_sums import AcceptedSums
from abstain.metrics.clusters import RowClusters
from abstain.metrics.ranking import Ranking, SampleRows
from abstain.metrics.slices import korn_graubard, share
from abstain.thresholds.refutation import refutation


def upper_bound_of(errors: NDArray[Any], clusters: Ints | None, /, *, delta: float) -> float:
    """The risk that these rows come from is at most this, with probability 1 − δ; 1 for no rows.

    That of graded losses, of independent rows, is by bets.
    """
    if len(errors) and errors.dtype != bool and clusters is None:
        return refutation(errors, np.ones(len(errors), dtype=bool), limit=0.5, delta=delta).high
    return share(errors, ids=clusters, level=_two_sided(delta)).high if len(errors) else 1.0


def upper_bounds(errors: Ints, accepted: Ints, /, *, delta: float) -> Floats:
    """Clopper and Pearson's bound, exact for independent rows: each holds with probability 1 − δ, not all together.

    >>> upper_bounds(np.array([3, 0, 5]), np.array([100, 10, 5]), delta=0.05).round(6)
    array([0.075711, 0.258866, 1.      ])
    """
    inside = errors < accepted
    bounds = betaincinv(np.where(inside, errors, 0) + 1.0, np.where(inside, accepted - errors, 1.0), 1 - delta)
    return np.where(inside, bounds, 1.0)


def clustered_bounds(errors: Bools, clusters: Ints, ranks: Ints, /, *, delta: float) -> Floats:
    """Korn and Graubard's (1998) of the first ``ranks`` rows, where rows of the same cluster belong together.

    It is that of `abstain.metrics.slices.share` on those rows, for all ranks in one pass.
    """
    if not len(errors):
        return np.ones(len(ranks))
    begins = np.zeros(len(errors) + 1, dtype=bool)
    begins[np.append(ranks, 0)] = True
    order = Order(np.arange(len(errors)), begins[:-1])
    rows = SampleRows(errors, None, RowClusters(clusters, int(clusters.max()) + 1))
    sums = AcceptedSums.of(Ranking(order, lambda these: -these.astype(np.float64), rows))
    n = np.cumsum(sums.ranking.groups.counts)
    risk, se = sums.risk()
    _, high = korn_graubard(risk, se, n, sums.accepted, level=_two_sided(delta))
    return np.where(ranks > 0, high[np.searchsorted(n, ranks)], 1.0)


def _two_sided(delta: float) -> float:
    """The level of an interval whose upper end is a bound at 1 − δ, or at 0.51 where less is asked for."""
    return 1 - 2 * min(delta, 0.49)

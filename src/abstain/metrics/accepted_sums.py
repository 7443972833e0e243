"""Products of what clusters have among the accepted rows, summed, at every threshold: what standard errors need."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain._kernels.sums import exact_sums
from abstain.metrics.ranking import Ranking


@dataclass(frozen=True)
class AcceptedSums:
    """Products of accepted loss, accepted weight and all weight, summed over the clusters, at each group's end (g,)."""

    loss_loss: Floats
    loss_weight: Floats
    weight_weight: Floats
    loss_all: Floats
    weight_all: Floats
    all_all: float
    accepted: NDArray[np.int64]
    """Clusters of which some sample is accepted."""
    size: int
    """Clusters in all."""
    ranking: Ranking

    @classmethod
    def of(cls, ranking: Ranking, /) -> "AcceptedSums":
        """One pass over the rows of each cluster in the order of their rank."""
        rows, group = ranking.rows, ranking.group
        w = np.ones(len(rows)) if rows.weights is None else rows.weights
        cluster = np.arange(len(rows)) if rows.clusters is None else rows.clusters.number
        size = len(rows) if rows.clusters is None else rows.clusters.size
        loss, whole = w * rows.losses, exact_sums(w, cluster, size)
        loss_before, weight_before, is_first = _before(ranking, loss, w, cluster)

        def added(each: Floats) -> Floats:
            return np.cumsum(exact_sums(each, group, len(ranking.groups.counts)))

        return cls(
            loss_loss=added(loss * (2 * loss_before + loss)),
            loss_weight=added(loss * weight_before + w * loss_before + loss * w),
            weight_weight=added(w * (2 * weight_before + w)),
            loss_all=added(loss * whole[cluster]),
            weight_all=added(w * whole[cluster]),
            all_all=float(np.square(whole).sum()),
            accepted=np.cumsum(np.bincount(group[is_first], minlength=len(ranking.groups.counts))),
            size=size,
            ranking=ranking,
        )

    def risk(self) -> tuple[Floats, Floats]:
        """(g,) the risk among the accepted, and its standard error at a threshold that is fixed."""
        groups, c = self.ranking.groups, self.accepted
        weight = np.cumsum(groups.weights)
        risk = np.cumsum(groups.losses) / weight
        squares = self.loss_loss - 2 * risk * self.loss_weight + risk**2 * self.weight_weight
        return risk, np.sqrt(np.maximum(squares, 0.0) * c / np.maximum(c - 1, 1)) / weight

    def with_each(self, values: Floats, each: Floats, /) -> Floats:
        """(g,) over clusters, the sum of the accepted rows' ``values`` (n,) times what ``each`` cluster (c,) has."""
        clusters, groups = self.ranking.rows.clusters, len(self.loss_loss)
        of_rows = each if clusters is None else each[clusters.number]
        return np.cumsum(np.bincount(self.ranking.group, weights=values * of_rows, minlength=groups))


def _before(
    ranking: Ranking, loss: Floats, weight: Floats, cluster: NDArray[np.int64]
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """(n,) loss and weight of a row's cluster that are accepted before it, and whether it is the first."""
    if ranking.rows.clusters is None:
        nothing = np.zeros(len(loss))
        return nothing, nothing, np.ones(len(loss), dtype=bool)
    order = np.lexsort((ranking.group, cluster))
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    lengths = np.diff(np.append(starts, len(order)))
    sums = []
    for values in (loss, weight):
        before = np.cumsum(values[order]) - values[order]
        within = np.empty(len(order))
        within[order] = before - np.repeat(before[starts], lengths)
        sums.append(within)
    is_first = np.zeros(len(order), dtype=bool)
    is_first[order[starts]] = True
    return sums[0], sums[1], is_first

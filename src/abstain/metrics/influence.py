"""AURC and AUGRC as sums over samples, from which standard errors, intervals and paired differences follow."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from abstain._arrays import Floats
from abstain._cached_property import cached_property
from abstain._kernels.areas import centre, group_influence, ranked_error_influence, row_influence
from abstain._kernels.sums import exact_sum
from abstain.metrics.clusters import RowClusters, cluster_sums, error_of_sums, standard_error
from abstain.metrics.groups import Groups
from abstain.metrics.ranking import Ranking, SampleRows
from abstain.metrics.spread import MOST, Spread, area_spread, effective_number, heaviest

KEPT = 1 << 17  # rows whose shares are found with their influence: it takes less than a pass of their own


@dataclass(frozen=True)
class Influence:
    """What each sample does to the area."""

    centred: Floats
    """(n,) its influence function value; the mean is 0 and the standard deviation over √n the standard error."""
    rows: SampleRows
    find_share: Callable[[], Floats]
    """How to find the shares: few ask for them."""

    @cached_property
    def share(self) -> Floats:
        """(n,) what each sample adds to the area if its loss is 1: the area is Σ share · loss."""
        return self.find_share()

    @cached_property
    def sums(self) -> Floats:
        """(c,) the influence of each cluster: the sum of that of its samples."""
        return cluster_sums(self.centred, self.rows.clusters)

    @cached_property
    def shares(self) -> Floats:
        """(c,) the share of each cluster."""
        return cluster_sums(self.share, self.rows.clusters)

    @cached_property
    def unseen(self) -> float:
        """What an error that this score alone has not found adds to its area."""
        return heaviest(self.shares, MOST)


def aurc_influence(ranking: Ranking, /, *, alpha: float = 1.0) -> Influence:
    """Influence on AURC-α: w/w̄ · (ℓ h − T − mean), with h = Σ_{k≥i} w_k/W_k and T = Σ_{k≥i} w_k ℓ_k/W_k."""
    rows, m = ranking.rows, ranking.prefix(alpha)
    if rows.is_counted:
        passes = ranking.order, rows.given_losses, m
        if len(rows) <= KEPT:
            centred, share = ranked_error_influence(*passes, len(rows))
            return Influence(centred, rows, lambda: share)
        return Influence(
            ranked_error_influence(*passes, 0)[0], rows, lambda: ranked_error_influence(*passes, len(rows))[1]
        )
    groups = ranking.groups
    h, t = group_influence(groups.counts, groups.weights, groups.losses, m)
    return _influence(ranking, h, t, reached=_weight_of_prefix(groups, m) / groups.weights.sum())


def augrc_influence(ranking: Ranking, /) -> Influence:
    """Influence on AUGRC: h is the share ranked below (half of itself), T the loss ranked from here on, over W."""
    return _influence(ranking, *augrc_sums(ranking.groups), reached=1.0)


def augrc_sums(groups: Groups, /) -> tuple[Floats, Floats]:
    """Sums h and T of AUGRC for each group, (g,)."""
    total = groups.weights.sum()
    ends, losses_so_far = np.cumsum(groups.weights), np.cumsum(groups.losses)
    h = (total - ends + groups.weights / 2) / total
    t = (losses_so_far[-1] - losses_so_far + groups.losses * (groups.counts + 1) / (2 * groups.counts)) / total
    return h, t


def _weight_of_prefix(groups: Groups, m: int) -> float:
    ends = np.cumsum(groups.counts)
    g = int(np.searchsorted(ends, m))
    inside = m - (ends[g] - groups.counts[g])
    return float(groups.weights[:g].sum() + groups.weights[g] * inside / groups.counts[g])


def _influence(ranking: Ranking, h: Floats, t: Floats, *, reached: float) -> Influence:
    """Scale and centre h and T once for each group, so that a row has only to look up its own."""
    groups, rows = ranking.groups, ranking.rows
    centre(h, t, groups.losses, groups.weights, len(rows) / reached)
    weights = np.empty(0) if rows.weights is None else rows.weights
    centred = row_influence(ranking.group, weights, rows.losses, h, t)
    share = h / len(rows)
    return Influence(
        centred, rows, lambda: share[ranking.group] if rows.weights is None else share[ranking.group] * rows.weights
    )


class Value(NamedTuple):
    """The value of a metric and, where they are known, its standard error and what more there is of its spread."""

    value: float
    se: float | None = None
    spread: Spread | None = None

    def interval(self, *, level: float) -> tuple[float, float] | None:
        """The interval within 0 and 1, normal where no more is known than the standard error; None without one."""
        if self.se is None:
            return None
        spread = self.spread or Spread(self.se**2, (0.0, 0.0), (0.0, 0.0), inf)
        low, high = spread.interval(self.value, level=level)
        return max(0.0, low), min(1.0, high)


def area_value(value: float, influence: Influence, /, *, se: float | None = None, beyond: float = 0.0) -> Value:
    """An area with its standard error, and the spread of its influence: the heaviest rows may hide an error."""
    n, sums, shares = len(influence.rows), influence.sums, influence.shares
    se = error_of_sums(exact_sum(np.square(sums)), len(sums), n) if se is None else se
    third, size = exact_sum(sums**3) / n**3, effective_number(shares)
    return Value(value, se, area_spread(value, se, third, heaviest(shares), size, beyond=beyond))


def mean_value(values: Floats, weights: Floats | None, clusters: RowClusters | None, /) -> Value:
    """The (weighted) mean of the rows' values, (n,), with its standard error."""
    w = np.ones(len(values)) if weights is None else weights
    total = exact_sum(w)
    mean = exact_sum(w * values) / total
    return Value(mean, standard_error(w * (values - mean) * (len(values) / total), clusters))

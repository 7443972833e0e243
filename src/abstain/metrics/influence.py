"""AURC and AUGRC as sums over samples, from which standard errors, intervals and paired differences follow."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.areas import centre, group_influence, row_influence
from abstain.kernels.influence import ranked_error_influence
from abstain.metrics.clusters import cluster_sums, reaches_clusters
from abstain.metrics.groups import Groups
from abstain.metrics.ranking import Ranking, Rows

Floats = NDArray[np.float64]
ROUNDING = 1e-12


@dataclass(frozen=True)
class Influence:
    """What each sample does to the area."""

    centred: Floats
    """(n,) its influence function value; the mean is 0 and the standard deviation over √n the standard error."""
    first_shares: Floats
    """(m,) what each of the first samples adds to the area if its loss is 1: the area is Σ share · loss."""
    rows: Rows
    all_shares: Callable[[], Floats] | None = None
    """How to find the shares of all samples, where the first are not all."""

    @cached_property
    def share(self) -> Floats:
        """(n,) the shares of all samples."""
        return self.first_shares if self.all_shares is None else self.all_shares()

    @cached_property
    def sums(self) -> Floats:
        """(c,) the influence of each cluster: the sum of that of its samples."""
        return cluster_sums(self.centred, self.rows.clusters)

    def has_errors(self, enough: int, /) -> bool:
        """Whether ``enough`` clusters add to the area; the first samples are looked at first."""
        return self._reach(self.first_shares > 0, enough) or (
            self.all_shares is not None and self._reach(self.share > 0, enough)
        )

    def tells_apart(self, other: "Influence", enough: int, /) -> bool:
        """Whether ``enough`` clusters have an error with another share in this area than in the other."""
        return self._reach(_differ(self.first_shares, other.first_shares), enough) or (
            self.all_shares is not None and self._reach(_differ(self.share, other.share), enough)
        )

    def _reach(self, is_there: NDArray[np.bool_], enough: int) -> bool:
        return reaches_clusters(is_there & (self.rows.given_losses[: len(is_there)] != 0), self.rows.clusters, enough)

    @cached_property
    def added(self) -> Floats:
        """(c,) what each cluster has added to the area."""
        return cluster_sums(self.share * self.rows.losses, self.rows.clusters)


def _differ(a: Floats, b: Floats) -> NDArray[np.bool_]:
    """Where a and b differ by more than rounding."""
    return np.abs(a - b) > ROUNDING * (a + b)


def aurc_influence(ranking: Ranking, /, *, alpha: float = 1.0) -> Influence:
    """Influence on AURC-α: w/w̄ · (ℓ h − T − mean), with h = Σ_{k≥i} w_k/W_k and T = Σ_{k≥i} w_k ℓ_k/W_k."""
    rows, m = ranking.rows, ranking.prefix(alpha)
    if rows.is_counted:
        passes = ranking.order, rows.given_losses, m
        found = ranked_error_influence(*passes, rows.watched)
        if rows.watched == len(rows):
            return Influence(*found, rows)
        return Influence(*found, rows, lambda: ranked_error_influence(*passes, len(rows))[1])
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
    share = (h / len(rows))[ranking.group]
    return Influence(centred, share if rows.weights is None else share * rows.weights, rows)

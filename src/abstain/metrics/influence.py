"""AURC and AUGRC as sums over samples, from which standard errors, intervals and paired differences follow."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.areas import centre, group_influence, row_influence
from abstain.kernels.errors import group_error_influence
from abstain.metrics.groups import Groups
from abstain.metrics.ranking import Ranking

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Influence:
    """What each sample does to the area."""

    centred: Floats
    """(n,) its influence function value; the mean is 0 and the standard deviation over √n the standard error."""
    group_share: Floats
    """(g,) what a sample of the group adds to the area if its loss is 1, for a weight of 1."""
    ranking: Ranking

    @cached_property
    def share(self) -> Floats:
        """(n,) what the sample adds to the area if its loss is 1: the area is Σ share · loss."""
        share, weights = self.group_share[self.ranking.group], self.ranking.rows.weights
        return share if weights is None else share * weights


def aurc_influence(ranking: Ranking, /, *, alpha: float = 1.0) -> Influence:
    """Influence on AURC-α: w/w̄ · (ℓ h − T − mean), with h = Σ_{k≥i} w_k/W_k and T = Σ_{k≥i} w_k ℓ_k/W_k."""
    groups = ranking.groups
    m = groups.prefix(alpha)
    if groups.is_counted:
        return _influence(ranking, *group_error_influence(groups.counts, groups.losses, m), reached=m / groups.n)
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
    h /= len(rows)
    return Influence(centred, h, ranking)

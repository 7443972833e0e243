"""AURC and AUGRC as sums over samples, from which standard errors, intervals and paired differences follow."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.areas import group_influence, row_influence
from abstain.kernels.sums import exact_sum
from abstain.metrics.groups import Groups
from abstain.metrics.ranking import Ranking

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Influence:
    """What each sample does to the area; arrays of shape (n,) in the order of the rows."""

    share: Floats
    """What the sample adds to the area if its loss is 1: the area is Σ share · loss."""
    centred: Floats
    """Its influence function value; the mean is 0 and the standard deviation over √n the standard error."""


def aurc_influence(ranking: Ranking, /, *, alpha: float = 1.0) -> Influence:
    """Influence on AURC-α: w/w̄ · (ℓ h − T − mean), with h = Σ_{k≥i} w_k/W_k and T = Σ_{k≥i} w_k ℓ_k/W_k."""
    groups = ranking.groups
    m = groups.prefix(alpha)
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
    rows, total = ranking.rows, ranking.groups.weights.sum()
    weights = np.empty(0) if rows.weights is None else rows.weights
    share, raw = row_influence(ranking.group, weights, rows.losses, h / reached, t / reached)
    mean = exact_sum(raw) / total
    raw -= mean if rows.weights is None else rows.weights * mean
    share /= total
    raw *= len(rows) / total
    return Influence(share, raw)

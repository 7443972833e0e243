"""AURC and AUGRC as sums over samples, from which standard errors, intervals and paired differences follow."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.areas import group_influence
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
    m = ranking.prefix(alpha)
    h, t = group_influence(ranking.counts, ranking.weights, ranking.losses, m)
    return _influence(ranking, h, t, reached=_weight_of_prefix(ranking, m) / ranking.weights.sum())


def augrc_influence(ranking: Ranking, /) -> Influence:
    """Influence on AUGRC: h is the share ranked below (half of itself), T the loss ranked from here on, over W."""
    total = ranking.weights.sum()
    ends, losses_so_far = np.cumsum(ranking.weights), np.cumsum(ranking.losses)
    h = (total - ends + ranking.weights / 2) / total
    t = (losses_so_far[-1] - losses_so_far + ranking.losses * (ranking.counts + 1) / (2 * ranking.counts)) / total
    return _influence(ranking, h, t, reached=1.0)


def _weight_of_prefix(ranking: Ranking, m: int) -> float:
    ends = np.cumsum(ranking.counts)
    g = int(np.searchsorted(ends, m))
    inside = m - (ends[g] - ranking.counts[g])
    return float(ranking.weights[:g].sum() + ranking.weights[g] * inside / ranking.counts[g])


def _influence(ranking: Ranking, h: Floats, t: Floats, *, reached: float) -> Influence:
    share = ranking.row_weights * (h / reached)[ranking.group]
    raw = share * ranking.row_losses - ranking.row_weights * (t / reached)[ranking.group]
    total = ranking.weights.sum()
    mean = np.sort(raw).sum() / total
    centred = (raw - ranking.row_weights * mean) * (ranking.n / total)
    return Influence(share / total, centred)

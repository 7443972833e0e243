"""The selective risk at a coverage as a sum over samples: its influence function, with the rate at the cut."""

import numpy as np
from numpy.typing import NDArray

from abstain.metrics.checks import check_share
from abstain.metrics.groups import Groups, accepted_at
from abstain.metrics.influence import Influence
from abstain.metrics.ranking import Ranking

Floats = NDArray[np.float64]


def risk_influence(ranking: Ranking, coverage: float, /) -> tuple[float, Influence]:
    """The risk R(c) of the most trusted share c, and what each row does to it: (1[U ≤ c](e − η) − c(R − η))/c.

    η is the error rate at the cut. More trusted rows move the cut, and what they push out errs at the rate η: without
    that term the standard error would be that of a fixed threshold. For independent rows the variance is
    (R(1 − R) + (1 − c)(η − R)²)/(nc).
    """
    check_share("coverage", coverage)
    if ranking.rows.weights is not None:
        raise ValueError("A risk at a coverage must have rows without weights to be compared, got weights.")
    groups, rows, n = ranking.groups, ranking.rows, ranking.n
    k = accepted_at(n, coverage)
    ends = np.cumsum(groups.counts)
    cut = int(np.searchsorted(ends, k))
    weights = np.zeros(len(ends))
    weights[:cut] = 1.0
    weights[cut] = (k - (ends[cut] - groups.counts[cut])) / groups.counts[cut]
    risk, rate = float(groups.losses @ weights) / k, float(rates_at_cut(groups, np.array([float(k)]))[0])
    of_rows = weights[ranking.group]
    centred = (of_rows * (rows.losses - rate) - k / n * (risk - rate)) * (n / k)
    return risk, Influence(centred, rows, lambda: of_rows / k)


def rates_at_cut(groups: Groups, accepted: Floats, /) -> Floats:
    """The error rate η of the samples near a cut, within n^⅔ ranks, by the weight accepted: the slope of the loss."""
    weight, loss = (np.append(0.0, np.cumsum(each)) for each in (groups.weights, groups.losses))
    reach = np.ceil(groups.n ** (2 / 3)) * weight[-1] / groups.n
    after, before = np.minimum(accepted + reach, weight[-1]), np.maximum(accepted - reach, 0.0)
    return np.asarray((np.interp(after, weight, loss) - np.interp(before, weight, loss)) / (after - before))

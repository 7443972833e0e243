"""How sure an AURC is: its standard error and a confidence interval that holds for few errors too."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv, ndtri

from abstain.arguments import check_number
from abstain.metrics.aurc import area
from abstain.metrics.clusters import cluster_sums, standard_error
from abstain.metrics.influence import Influence, aurc_influence
from abstain.metrics.ranking import Ranking, rank

Floats = NDArray[np.float64]
FEW_ERRORS = 50  # below it the normal interval is too short


@dataclass(frozen=True)
class Estimate:
    """An area with its standard error, its interval, and the influences that paired comparisons need."""

    value: float
    se: float
    low: float
    high: float
    influence: Influence


def aurc_se(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    alpha: float = 1.0,
    weights: ArrayLike | None = None,
    ids: ArrayLike | None = None,
) -> float:
    """Standard error of AURC-α by its influence function; samples with the same ``ids`` are one cluster.

    >>> s = [0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]
    >>> round(aurc_se(s, [0, 0, 1, 0, 0, 1, 0, 1, 1, 1]), 10)
    0.1441289951
    """
    return standard_error(aurc_influence(rank(confidence, losses, weights=weights), alpha=alpha).centred, ids)


def aurc_interval(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    alpha: float = 1.0,
    ids: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[float, float]:
    """Two-sided confidence interval of AURC-α.

    The normal interval, or with fewer than 50 errors among the first αn samples the weighted-Poisson interval of
    Fay and Feuer (1997), which keeps its level there at the price of some width.
    """
    found = estimate(rank(confidence, losses), alpha=alpha, ids=ids, level=level)
    return found.low, found.high


def estimate(ranking: Ranking, /, *, alpha: float = 1.0, ids: ArrayLike | None = None, level: float = 0.95) -> Estimate:
    """AURC-α of a ranking with all that is known of its error."""
    check_level(level)
    influence = aurc_influence(ranking, alpha=alpha)
    value = area(ranking, alpha=alpha)
    se = standard_error(influence.centred, ids)
    added = cluster_sums(influence.share * ranking.row_losses, ids)
    if np.count_nonzero(added) < FEW_ERRORS:
        low, high = fay_feuer(added, largest=cluster_sums(influence.share, ids).max(), level=level)
    else:
        half = ndtri((1 + level) / 2) * se
        low, high = value - half, value + half
    return Estimate(value, se, max(0.0, float(low)), min(1.0, float(high)), influence)


def fay_feuer(added: Floats, /, *, largest: float, level: float) -> tuple[float, float]:
    """Interval for a sum of Poisson counts with weights, from what each event ``added`` and the ``largest`` weight."""
    y = np.sort(added).sum()
    v = np.sort(np.square(added)).sum()
    outside = (1 - level) / 2
    low = v / y * gammaincinv(y**2 / v, outside) if v > 0 else 0.0  # no event, or all too small to square
    if largest == 0:
        return float(low), 0.0
    y, v = y + largest, v + largest**2
    return float(low), float(v / y * gammaincinv(y**2 / v, 1 - outside))


def mover(positive: tuple[float, float, float], negative: tuple[float, float, float], /) -> tuple[float, float]:
    """Interval of a difference of two independent estimates from their own (value, low, high) (Zou & Donner, 2008)."""
    difference = positive[0] - negative[0]
    low = difference - sqrt((positive[0] - positive[1]) ** 2 + (negative[2] - negative[0]) ** 2)
    high = difference + sqrt((positive[2] - positive[0]) ** 2 + (negative[0] - negative[1]) ** 2)
    return low, high


def check_level(level: float, /) -> None:
    """A confidence level strictly between 0 and 1."""
    check_number("level", level)
    if not 0 < level < 1:
        raise ValueError(f"`level` must be between 0 and 1, got {level}.")

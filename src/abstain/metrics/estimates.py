"""`estimates`: AURC-α of ranked samples with its standard error and interval, and the rows for paired comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, log

import numpy as np

from abstain._arguments import check_fraction, check_share
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain.metrics.aurc import area
from abstain.metrics.clusters import cluster_sums, error_of_mean
from abstain.metrics.groups import Ties
from abstain.metrics.influence import Influence, Value, area_value, aurc_influence
from abstain.metrics.metric import Metric
from abstain.metrics.ranking import Ranking
from abstain.metrics.spread import TOP, Spread, area_spread

KEPT = 1 << 17  # rows whose influence is kept once it is known


@dataclass(frozen=True)
class Estimate:
    """An AURC-α with its standard error and its interval.

    Attributes
    ----------
    value : float
        AURC-α.
    se : float
        Its standard error.
    low : float
        The lower end of its interval.
    high : float
        The upper end of its interval.
    alpha : float
        The largest coverage that counts.
    spread : Spread
        What its standard error and interval are made from.
    ranking : Ranking or None
        The rows, which a paired comparison needs; None where only groups were there.
    """

    value: float
    se: float
    low: float
    high: float
    alpha: float
    spread: Spread = field(repr=False)
    ranking: Ranking | None = field(default=None, repr=False)

    @cached_property
    def influence(self) -> Influence:
        """What each row does to the area."""
        return self.find_influence()

    def find_influence(self) -> Influence:
        """The influence, which is not kept if it was not."""
        if "influence" in self.__dict__:
            return self.influence
        if self.ranking is None:
            raise InvalidInputError(
                "A paired comparison must have the rows of both scores, got groups alone. Rank the rows."
            )
        return aurc_influence(self.ranking, alpha=self.alpha)


def estimates(ties: Ties | Ranking, /, *, alphas: Sequence[float] = (1.0,), level: float = 0.95) -> list[Estimate]:
    """AURC-α with all that is known of its error, for several α in one pass.

    A ranking counts its clusters once; sorted or grouped samples count every row, and must have losses of 0 and 1.

    Parameters
    ----------
    ties : Ranking or Groups
        Ranked samples, or groups of tied ones.
    alphas : sequence of float
        The coverages α.
    level : float
        Of the intervals.

    Returns
    -------
    list of Estimate
        One for each α.
    """
    check_fraction("level", level)
    for alpha in alphas:
        check_share("alpha", alpha)
    if isinstance(ties, Ranking):
        if ties.rows.is_counted and ties.rows.clusters is None:
            return _counted(ties, alphas, level, ties)
        return _by_rows(ties, alphas, level)
    if not ties.is_counted:
        raise InvalidInputError("A standard error must have the rows where losses or weights vary, got groups alone.")
    return _counted(ties, alphas, level, None)


def aurc_value(ranking: Ranking, alpha: float, /) -> Value:
    """AURC-α of a ranking with its standard error."""
    estimate = estimates(ranking, alphas=[alpha])[0]
    return Value(estimate.value, estimate.se, estimate.spread)


def _counted(ties: Ties | Ranking, alphas: Sequence[float], level: float, ranking: Ranking | None) -> list[Estimate]:
    n, ms = ties.n, [ties.prefix(alpha) for alpha in alphas]
    estimates_by_alpha = []
    for alpha, m, sums in zip(alphas, ms, ties.error_areas(np.array(ms)), strict=True):
        value, se = sums.risks / m, error_of_mean(sums.spread, n) * (n / m)
        beyond = 1 / (sums.first * m) if sums.first else 0.0
        spread = area_spread(value, se, sums.third / m**3, _heaviest_ranks(m, sums.largest), m / 2, beyond=beyond)
        estimates_by_alpha.append(_estimate(Value(value, se, spread), level, alpha, ranking))
    return estimates_by_alpha


def _heaviest_ranks(m: int, largest: float) -> float:
    """`heaviest` for the ranks of an area of m, if they are not tied, or for the first group of ties.

    The mean of H_m − H_{i−1} over the ranks i up to k is H_m − H_k + 1.
    """
    return min(largest, 1 + _harmonic(m) - _harmonic(ceil(TOP * m))) / m


def _harmonic(k: int) -> float:
    """1 + 1/2 + … + 1/k, to a hundredth."""
    return log(k) + 0.5772156649015329 + 1 / (2 * k) - 1 / (12 * k**2)


def _by_rows(ranking: Ranking, alphas: Sequence[float], level: float) -> list[Estimate]:
    if ranking.rows.is_counted:  # in one pass, by a kernel that influence and areas of rows use too
        ms = [ranking.prefix(alpha) for alpha in alphas]
        areas = [sums.risks / m for m, sums in zip(ms, ranking.error_areas(np.array(ms)), strict=True)]
    else:
        areas = [area(ranking.groups, alpha=alpha) for alpha in alphas]
    estimates_by_alpha = []
    for alpha, at in zip(alphas, areas, strict=True):
        influence = aurc_influence(ranking, alpha=alpha)
        value = area_value(at, influence, beyond=_beyond(ranking, alpha))
        estimate = _estimate(value, level, alpha, ranking)
        if len(ranking.rows) <= KEPT:
            estimate.__dict__["influence"] = influence  # the property's cached value
        estimates_by_alpha.append(estimate)
    return estimates_by_alpha


def _beyond(ranking: Ranking, alpha: float) -> float:
    """What an error at rank i, left out, takes off beyond its influence Σ_{k≥i} 1/k − 1/i: the 1/i, over all ranks.

    Of a cluster it is as much for each of its rows that may be up there.
    """
    groups, clusters = ranking.groups, ranking.rows.clusters
    wrong = np.flatnonzero(groups.losses)
    if not len(wrong):
        return 0.0
    before, all_weight = float(groups.weights[: wrong[0] + 1].sum()), alpha * float(groups.weights.sum())
    each = np.ones(ranking.n) if ranking.rows.weights is None else ranking.rows.weights
    first = ranking.group == wrong[0]
    largest = float(cluster_sums(each, clusters)[first if clusters is None else clusters.number[first]].max())
    return largest * min(1.0, largest / before) / all_weight


def _estimate(metric: Value, level: float, alpha: float, ranking: Ranking | None) -> Estimate:
    value, se, spread = metric
    interval = metric.interval(level=level)
    if se is None or spread is None or interval is None:
        raise InvalidInputError("An estimate must have a standard error, got none.")
    return Estimate(value, se, *interval, alpha, spread, ranking)


ENTRIES = (Metric("aurc", "AURC-α", "AURC, coverages up to {}", "small", aurc_value, parameter="alpha"),)

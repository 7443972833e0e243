"""The coverage at which the risk of a ranking reaches a level, with what is known of its error."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from abstain.metrics.clusters import Clusters, cluster_sums
from abstain.metrics.influence import Influence
from abstain.metrics.ranking import Ranking
from abstain.metrics.risk_influence import rates_at_cut

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Crossing:
    """The largest coverage with a risk of at most a level, 0 if there is none, and its interval."""

    value: float
    low: float
    high: float
    centred: Floats | None
    """(n,) its influence function; None where the risk does not rise through the level there."""


def crossing(ranking: Ranking, risk: float, /, *, of_risk: Influence | None = None, level: float = 0.95) -> Crossing:
    """The coverage C at which a risk is reached, with an interval of the coverages that a test cannot rule out.

    ``of_risk`` is the influence of the rows on the risk, where it was measured on the same rows and not fixed
    beforehand. Its influence is −(1[U ≤ C](e − η) − C(r − η))/(η − r), plus C/(η − r) times that on the risk. The
    interval is from the last coverage whose risk is significantly below to the last whose risk is not significantly
    above: it holds where the curve is flat too, and knows that no coverage is below 0 or above 1.
    """
    groups, n = ranking.groups, ranking.n
    ks = np.cumsum(groups.counts)[: -1 if groups.confidence[-1] == -np.inf else None]
    if not len(ks):
        return Crossing(0.0, 0.0, 0.0, None)
    risks, rates = np.cumsum(groups.losses)[: len(ks)] / ks, rates_at_cut(groups, ks)
    errors = _errors(ranking, ks, risks, rates, of_risk)
    step = 1.0 / ks
    if of_risk is None:
        least = (risk * (1 - risk) + (1 - ks / n) * np.square(rates - risk)) / ks
        errors, step = np.sqrt(np.maximum(np.square(errors), least)), 0.5 / ks
    reached = float(ndtri((1 + level) / 2)) * errors + step
    kept = np.flatnonzero(risks <= risk * (1 + 1e-12))
    below, within = np.flatnonzero(risks + reached < risk), np.flatnonzero(risks - reached <= risk)
    value, low, high = (float(ks[found[-1]]) / n if len(found) else 0.0 for found in (kept, below, within))
    return Crossing(value, low, high, _influence(ranking, kept, risk, rates, of_risk))


def _influence(ranking: Ranking, kept: Ints, risk: float, rates: Floats, of_risk: Influence | None) -> Floats | None:
    """None at either end of the curve, or where it does not rise."""
    groups = ranking.groups
    if not len(kept) or kept[-1] == len(groups.counts) - 1 or not rates[kept[-1]] > risk:
        return None
    coverage, rate = float(groups.counts[: kept[-1] + 1].sum()) / ranking.n, float(rates[kept[-1]])
    inside = ranking.group <= kept[-1]
    found = -(inside * (ranking.rows.losses - rate) - coverage * (risk - rate)) / (rate - risk)
    return found if of_risk is None else found + coverage / (rate - risk) * of_risk.centred


def _errors(ranking: Ranking, ks: Ints, risks: Floats, rates: Floats, of_risk: Influence | None) -> Floats:
    """The standard error of the risk of the k most trusted rows, less a risk measured on the same rows, at each k.

    The influence of a cluster is (n/k)(L − ηN − (k/n)(R − η)m) − P, with the loss L and number N of its rows among the
    k, its size m and its influence P on the other risk: its square needs running sums of their products alone.
    """
    rows, n = ranking.rows, ranking.n
    sums, ones = _Running.of(ranking, len(ks)), np.ones(n)
    size = ones if rows.clusters is None else np.bincount(rows.clusters.number).astype(np.float64)
    other = np.zeros(len(size)) if of_risk is None else cluster_sums(of_risk.centred, rows.clusters)

    def beyond(each: Floats) -> Floats:
        """Σ (L − ηN) times what each cluster has."""
        return sums.with_each(rows.losses, each) - rates * sums.with_each(ones, each)

    scale, centre = n / ks, risks - rates
    squares = (
        np.square(scale) * (sums.losses_losses - 2 * rates * sums.losses_rows + np.square(rates) * sums.rows_rows)
        + np.square(centre) * float(size @ size)
        + float(other @ other)
        - 2 * scale * (centre * beyond(size) + beyond(other))
        + 2 * centre * float(size @ other)
    )
    c = len(size)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) * c / max(1, c - 1)) / n)


@dataclass(frozen=True)
class _Running:
    """Sums over clusters of products of what they have among the most trusted rows, at the end of each group (g,)."""

    group: Ints
    shown: int
    """Groups, the most trusted first, that are asked for."""
    clusters: Clusters | None
    losses_losses: Floats
    losses_rows: Floats
    rows_rows: Floats

    @classmethod
    def of(cls, ranking: Ranking, shown: int, /) -> "_Running":
        group, losses, clusters = ranking.group, ranking.rows.losses, ranking.rows.clusters
        ones = np.ones(ranking.n)
        if clusters is None:
            before = np.zeros(ranking.n), np.zeros(ranking.n)
        else:
            order = np.lexsort((group, clusters.number))
            number = clusters.number[order]
            starts = np.flatnonzero(np.append(True, number[1:] != number[:-1]))
            before = _before(losses, order, starts), _before(ones, order, starts)

        def running(added: Floats) -> Floats:
            return _cumulated(group, added, shown)

        return cls(
            group,
            shown,
            clusters,
            running(2 * before[0] * losses + np.square(losses)),
            running(before[0] + losses * before[1] + losses),
            running(2 * before[1] + 1.0),
        )

    def with_each(self, values: Floats, each: Floats, /) -> Floats:
        """Σ over clusters of the running sum of ``values`` times what ``each`` cluster (c,) has."""
        of_rows = each if self.clusters is None else each[self.clusters.number]
        return _cumulated(self.group, values * of_rows, self.shown)


def _cumulated(group: Ints, added: Floats, shown: int) -> Floats:
    return np.asarray(np.cumsum(np.bincount(group, weights=added)[:shown]))


def _before(values: Floats, order: Ints, starts: Ints) -> Floats:
    """(n,) the sum of the values that come before each row in its cluster."""
    sorted_values = values[order]
    total = np.cumsum(sorted_values) - sorted_values
    found = np.empty(len(values))
    found[order] = total - np.repeat(total[starts], np.diff(np.append(starts, len(values))))
    return found

"""The coverage at which the risk of a ranking reaches a level, with what is known of its error."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.metrics.accepted_sums import AcceptedSums
from abstain.metrics.clusters import cluster_sums
from abstain.metrics.influence import Influence
from abstain.metrics.quantiles import normal_quantile
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
    reachable = slice(-1) if groups.confidence[-1] == -np.inf else slice(None)
    ks = np.cumsum(groups.counts)
    risks, rates = np.cumsum(groups.losses) / ks, rates_at_cut(groups, ks.astype(np.float64))
    errors = _errors(ranking, ks, risks, rates, of_risk)
    ks, risks, rates, errors = ks[reachable], risks[reachable], rates[reachable], errors[reachable]
    step = 1.0 / ks
    if of_risk is None:
        least = (risk * (1 - risk) + (1 - ks / n) * np.square(rates - risk)) / ks
        errors, step = np.sqrt(np.maximum(np.square(errors), least)), 0.5 / ks
    reached = normal_quantile((1 + level) / 2) * errors + step
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
    rows, n, sums, ones = ranking.rows, ranking.n, AcceptedSums.of(ranking), np.ones(ranking.n)
    other = np.zeros(sums.size) if of_risk is None else cluster_sums(of_risk.centred, rows.clusters)
    with_other = sums.with_each(rows.losses, other) - rates * sums.with_each(ones, other)
    with_sizes = sums.loss_all - rates * sums.weight_all
    scale, centre = n / ks, risks - rates
    squares = (
        np.square(scale) * (sums.loss_loss - 2 * rates * sums.loss_weight + np.square(rates) * sums.weight_weight)
        + np.square(centre) * sums.all_all
        + float(other @ other)
        - 2 * scale * (centre * with_sizes + with_other)
        + 2 * centre * float(cluster_sums(ones, rows.clusters) @ other)
    )
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) * sums.size / max(1, sums.size - 1)) / n)

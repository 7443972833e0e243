"""Points of the risk–coverage curve, by their coverage or by their risk, with what is known of their error."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from abstain._arguments import check_number, check_share
from abstain._arrays import Floats, Ints
from abstain._errors import InvalidInputError
from abstain.metrics.accepted_sums import AcceptedSums
from abstain.metrics.clusters import cluster_sums
from abstain.metrics.groups import Groups, accepted_at, group, rates_at_cut
from abstain.metrics.influence import Influence, Value
from abstain.metrics.metric import Metric
from abstain.metrics.ranking import Ranking
from abstain.metrics.risk_coverage import curve
from abstain.metrics.spread import normal_quantile


def risk_at_coverage(
    confidence: ArrayLike, losses: ArrayLike, /, *, coverage: float, weights: ArrayLike | None = None
) -> float:
    """Risk of the fewest most trusted samples that make up ``coverage``.

    A cut inside a tie gives the expected risk over the orders of the tie, which no threshold attains;
    ``risk_coverage(…).reaches(coverage)`` returns that.

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted; tied samples are accepted together.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    coverage : float
        The share of samples to accept, above 0 and at most 1.
    weights : (n,) array, optional
        Positive weights of the samples.

    Returns
    -------
    float

    Examples
    --------
    >>> risk_at_coverage([0.9, 0.8, 0.8, 0.1], [0, 1, 0, 1], coverage=0.5)
    0.25
    """
    return risk_at(group(confidence, losses, weights=weights), coverage)


def risk_at(groups: Groups, coverage: float, /) -> float:
    """Expected risk of the first rows of the ranking that make up ``coverage``."""
    check_share("coverage", coverage)
    ends = np.cumsum(groups.weights)
    is_weighted = (groups.weights != groups.counts).any()
    goal = coverage * ends[-1] * (1 - 1e-12) if is_weighted else float(accepted_at(groups.n, coverage))
    g = min(int(np.searchsorted(ends, goal)), len(ends) - 1)
    before = ends[g] - groups.weights[g]
    each = groups.weights[g] / groups.counts[g]
    inside = min(max(1, ceil((goal - before) / each)), groups.counts[g])
    loss = groups.losses[:g].sum() + groups.losses[g] * inside / groups.counts[g]
    return float(loss / (before + inside * each))


def coverage_at_risk(
    confidence: ArrayLike, losses: ArrayLike, /, *, risk: float, weights: ArrayLike | None = None
) -> float:
    """The largest coverage some threshold reaches at which the observed risk is at most ``risk``; 0 if there is none.

    It describes this sample and guarantees nothing about the next.

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted; tied samples are accepted together.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    risk : float
        The largest share of errors among the accepted.
    weights : (n,) array, optional
        Positive weights of the samples.

    Returns
    -------
    float
        0 where no coverage keeps the risk.

    Examples
    --------
    >>> coverage_at_risk([0.9, 0.8, 0.7, 0.1], [0, 1, 0, 1], risk=0.4)
    0.75
    """
    return coverage_at(group(confidence, losses, weights=weights), risk)


def coverage_at(groups: Groups, risk: float, /) -> float:
    """The largest coverage that a threshold reaches on these groups at an observed risk of at most ``risk``, or 0."""
    check_number("risk", risk)
    if not 0 <= risk <= 1:
        raise InvalidInputError(f"`risk` must be between 0 and 1, got {risk}.")
    points = curve(groups)
    kept = points.coverage[points.risk <= risk * (1 + 1e-12)]
    return float(kept[-1]) if kept.size else 0.0


def risk_influence(ranking: Ranking, coverage: float, /) -> tuple[float, Influence]:
    """The risk R(c) of the most trusted share c, and what each row does to it: (1[U ≤ c](e − η) − c(R − η))/c.

    η is the error rate at the cut. More trusted rows move the cut, and what they push out errs at the rate η: without
    that term the standard error would be that of a fixed threshold. For independent rows the variance is
    (R(1 − R) + (1 − c)(η − R)²)/(nc).
    """
    check_share("coverage", coverage)
    if ranking.rows.weights is not None:
        raise InvalidInputError("A risk at a coverage must have rows without weights to be compared, got weights.")
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
    value, low, high = (float(ks[ranks[-1]]) / n if len(ranks) else 0.0 for ranks in (kept, below, within))
    return Crossing(value, low, high, _influence(ranking, kept, risk, rates, of_risk))


def _influence(ranking: Ranking, kept: Ints, risk: float, rates: Floats, of_risk: Influence | None) -> Floats | None:
    """None at either end of the curve, or where it does not rise."""
    groups = ranking.groups
    if not len(kept) or kept[-1] == len(groups.counts) - 1 or not rates[kept[-1]] > risk:
        return None
    coverage, rate = float(groups.counts[: kept[-1] + 1].sum()) / ranking.n, float(rates[kept[-1]])
    inside = ranking.group <= kept[-1]
    influence = -(inside * (ranking.rows.losses - rate) - coverage * (risk - rate)) / (rate - risk)
    return influence if of_risk is None else influence + coverage / (rate - risk) * of_risk.centred


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


def risk_value(ranking: Ranking, coverage: float, /) -> Value:
    """Risk at a coverage of a ranking."""
    return Value(risk_at(ranking.groups, coverage))


def coverage_value(ranking: Ranking, risk: float, /) -> Value:
    """Coverage at a risk of a ranking."""
    return Value(coverage_at(ranking.groups, risk))


ENTRIES = (
    Metric("risk_at_coverage", "R(c)", "Risk at coverage {}", "small", risk_value, (), "coverage", 0.8),
    Metric("coverage_at_risk", "C(r)", "Coverage at risk {}", "large", coverage_value, (), "risk", 0.05),
)

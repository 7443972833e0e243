"""The risk–coverage curve, and a band that shows how sure each of its points is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import check_fraction
from abstain._arrays import Floats
from abstain._extras import require
from abstain.metrics.accepted_sums import AcceptedSums
from abstain.metrics.groups import Groups, group, rates_at_cut
from abstain.metrics.ranking import rank
from abstain.metrics.slices import korn_graubard
from abstain.metrics.spread import normal_quantile


@dataclass(frozen=True)
class RiskCoverage:
    """Selective risk at every coverage a threshold can reach; tied samples are accepted together.

    Attributes
    ----------
    coverage : array
        Share of the samples with confidence above the threshold, ascending.
    risk : array
        Mean loss of these samples.
    threshold : array
        γ of the rule "accept iff confidence > γ" that gives the point.
    """

    coverage: NDArray[np.float64]
    risk: NDArray[np.float64]
    threshold: NDArray[np.float64]

    def reaches(self, coverage: float, /) -> bool:
        """Whether some threshold gives exactly this coverage (to within rounding)."""
        return bool(np.isclose(self.coverage, coverage, rtol=1e-9, atol=0).any())

    def plot(self, ax: Any = None, **line: Any) -> Any:
        """Draw the curve on Matplotlib axes, by default the current ones, and give them back."""
        pyplot = require("matplotlib.pyplot", extra="report", feature="RiskCoverage.plot")
        axes = pyplot.gca() if ax is None else ax
        axes.plot(self.coverage, self.risk, **line)
        axes.set(xlabel="Coverage", ylabel="Selective risk", xlim=(0, 1))
        axes.set_ylim(bottom=0)
        return axes


def risk_coverage(confidence: ArrayLike, losses: ArrayLike, /, *, weights: ArrayLike | None = None) -> RiskCoverage:
    """Selective risk R = Σ wℓ / Σ w over the accepted, at every reachable coverage (El-Yaniv & Wiener, 2010).

    Samples of confidence −inf are never accepted, so the curve ends before full coverage where there are any.

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted; tied samples are accepted together.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    weights : (n,) array, optional
        Positive weights of the samples.

    Returns
    -------
    RiskCoverage
        Coverage, risk and threshold of every point that a threshold can reach.

    Examples
    --------
    >>> curve = risk_coverage([0.9, 0.8, 0.8, 0.1], [0, 1, 0, 1])
    >>> curve.coverage, curve.risk.round(3)
    (array([0.25, 0.75, 1.  ]), array([0.   , 0.333, 0.5  ]))
    """
    return curve(group(confidence, losses, weights=weights))


def curve(groups: Groups, /) -> RiskCoverage:
    """The risk–coverage curve of groups."""
    accepted = np.cumsum(groups.weights)
    reachable = slice(-1) if groups.confidence[-1] == -np.inf else slice(None)
    with np.errstate(over="ignore"):  # below the least number is −∞
        threshold = np.nextafter(groups.confidence, -np.inf)
    return RiskCoverage(
        coverage=(accepted / accepted[-1])[reachable],
        risk=(np.cumsum(groups.losses) / accepted)[reachable],
        threshold=threshold[reachable],
    )


def evenly(size: int, most: int, /) -> NDArray[np.int64]:
    """The numbers 0 … size − 1, or ``most`` of them at even distances, the first and the last included.

    >>> evenly(9, 3)
    array([0, 4, 8])
    """
    return np.arange(size) if size <= most else np.linspace(0, size - 1, most).astype(np.int64)


POINTS = 1000  # finer than a figure shows
CUTS = 33  # at which the risk is looked up over the range that the true cut may lie in


@dataclass(frozen=True)
class RiskBand:
    """The selective risk at coverages that thresholds reach, with its standard error and pointwise interval.

    Attributes
    ----------
    coverage : array
        The coverages, ascending.
    risk : array
        The selective risk at each.
    se : array
        The standard error at each.
    low : array
        The lower ends of the intervals.
    high : array
        The upper ends of the intervals.
    level : float
        The level of each interval by itself.
    """

    coverage: Floats
    risk: Floats
    se: Floats
    low: Floats
    high: Floats
    level: float

    def plot(self, ax: Any = None, **fill: Any) -> Any:
        """Shade the band on Matplotlib axes, by default the current ones, and give them back."""
        pyplot = require("matplotlib.pyplot", extra="report", feature="RiskBand.plot")
        axes = pyplot.gca() if ax is None else ax
        axes.fill_between(self.coverage, self.low, self.high, **({"alpha": 0.2, "linewidth": 0} | fill))
        return axes


def risk_band(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    weights: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    level: float = 0.95,
    points: int = POINTS,
) -> RiskBand:
    """Pointwise band of the risk at each coverage; samples with the same ``ids`` are one cluster.

    At a fixed coverage c the threshold is random too: a sample's influence is (1{accepted}(ℓ − r) − c(R − r))/c, with r
    the risk of samples near the threshold, those within n^⅔ ranks. Of independent samples with losses of 0 and 1 the
    variance is R(1 − R)/(cn) + (R − r)²(1 − c)/(cn), of which a threshold that is fixed has the first part alone.
    The interval is Korn and Graubard's (1998) or, if wider, the range of the curve where the true cut may lie, with
    what is then left of the deviation for a fixed threshold.
    Each point has its level, not the curve as a whole. Of more than ``points`` coverages that thresholds reach, so many
    are taken evenly.

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted; tied samples are accepted together.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    weights : (n,) array, optional
        Positive weights of the samples.
    ids : (n,) array, optional
        Samples with the same id are one cluster, counted once in standard errors.
    level : float
        Of the interval.
    points : int
        At most so many, evenly spaced.

    Returns
    -------
    RiskBand
        Coverage, risk, low and high at each point.

    Examples
    --------
    >>> band = risk_band([0.9, 0.8, 0.7, 0.6], [0, 1, 0, 1])
    >>> band.risk.round(3), band.high.round(3)
    (array([0.   , 0.5  , 0.333, 0.5  ]), array([1.   , 0.987, 1.   , 0.932]))
    """
    check_fraction("level", level)
    ranking = rank(confidence, losses, weights=weights, ids=ids)
    groups = ranking.groups
    weight, loss = np.cumsum(groups.weights), np.cumsum(groups.losses)
    coverage, risk = weight / weight[-1], loss / weight
    near = rates_at_cut(groups, weight)
    lift = coverage * (risk - near)
    sums = AcceptedSums.of(ranking)
    squares = (
        sums.loss_loss + near**2 * sums.weight_weight + lift**2 * sums.all_all
        - 2 * near * sums.loss_weight - 2 * lift * sums.loss_all + 2 * near * lift * sums.weight_all
    )  # fmt: skip
    se = np.sqrt(np.maximum(squares, 0.0) * sums.size / max(sums.size - 1, 1)) / weight
    kept = evenly(len(weight) - (groups.confidence[-1] == -np.inf), points)
    coverage, risk, se = coverage[kept], np.minimum(risk[kept], 1.0), se[kept]
    sizes = np.cumsum(groups.counts)[kept], sums.accepted[kept]
    fixed = korn_graubard(risk, sums.risk()[1][kept], *sizes, level=level)
    around = _around_cuts(groups, sums, kept, (risk - fixed[0], fixed[1] - risk), level)
    low, high = korn_graubard(risk, se, *sizes, level=level)
    low, high = np.minimum(low, around[0]), np.maximum(high, around[1])
    return RiskBand(coverage, risk, se, np.maximum(low, 0.0), np.minimum(high, 1.0), level)


def _around_cuts(
    groups: Groups, sums: AcceptedSums, kept: NDArray[np.int64], fixed: tuple[Floats, Floats], level: float
) -> tuple[Floats, Floats]:
    """(k,) the lowest and highest risk over the range that each true cut may lie in, with the ``fixed`` part added.

    Of the deviation that the level allows, a cut that far off uses a part, and the interval at a fixed threshold the
    rest: the two make an ellipse, which peaks and jumps of the curve do not escape.
    """
    ends, total = (np.append(0.0, np.cumsum(each)) for each in (groups.weights, groups.losses))
    weight = ends[kept + 1]
    squares = (sums.weight_weight - 2 * (ends[1:] / ends[-1]) * sums.weight_all)[kept]
    squares += np.square(weight / ends[-1]) * sums.all_all
    far = normal_quantile((1 + level) / 2) * np.sqrt(np.maximum(squares, 0.0)) + ends[-1] / groups.n
    part = np.linspace(-1, 1, CUTS)[:, None]
    cuts = np.clip(weight + part * far, ends[1], ends[-1])
    risk, step = np.interp(cuts, ends, total) / cuts, 1 / np.cumsum(groups.counts)[kept]
    rest = np.sqrt(
        (1 - np.square(part)) * (risk + step) / (total[kept + 1] / weight + step)
    )  # wider where errors are more
    return (risk - rest * fixed[0]).min(axis=0), (risk + rest * fixed[1]).max(axis=0)

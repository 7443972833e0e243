"""How sure each point of a risk–coverage curve is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.extras import require
from abstain.metrics.accepted_sums import AcceptedSums
from abstain.metrics.checks import check_level
from abstain.metrics.groups import Groups
from abstain.metrics.quantiles import normal_quantile
from abstain.metrics.ranking import Ranking, rank
from abstain.metrics.risk_coverage import evenly
from abstain.metrics.risk_influence import rates_at_cut
from abstain.metrics.share import korn_graubard

Floats = NDArray[np.float64]
POINTS = 1000  # finer than a figure shows


@dataclass(frozen=True)
class RiskBand:
    """The selective risk at coverages that thresholds reach, with its standard error and pointwise interval."""

    coverage: Floats
    """Ascending."""
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
    The interval is Korn and Graubard's (1998) or, if wider, the fixed-threshold interval plus the change of risk over
    the plausible range of the cut.
    Each point has its level, not the curve as a whole. Of more than ``points`` coverages that thresholds reach, so many
    are taken evenly.

    >>> band = risk_band([0.9, 0.8, 0.7, 0.6], [0, 1, 0, 1])
    >>> band.risk.round(3), band.high.round(3)
    (array([0.   , 0.5  , 0.333, 0.5  ]), array([1.   , 0.987, 0.929, 0.932]))
    """
    check_level(level)
    return band_of(rank(confidence, losses, weights=weights, ids=ids), level=level, points=points)


def band_of(ranking: Ranking, /, *, level: float = 0.95, points: int = POINTS) -> RiskBand:
    """The band of samples that are ranked."""
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
    below, above = _beside(groups, sums, level)
    kept = evenly(len(weight) - (groups.confidence[-1] == -np.inf), points)
    coverage, risk, se = coverage[kept], np.minimum(risk[kept], 1.0), se[kept]
    sizes = np.cumsum(groups.counts)[kept], sums.accepted[kept]
    low, high = korn_graubard(risk, se, *sizes, level=level)
    fixed_low, fixed_high = korn_graubard(risk, sums.risk()[1][kept], *sizes, level=level)
    low = np.minimum(low, risk - np.hypot(risk - fixed_low, below[kept]))
    high = np.maximum(high, risk + np.hypot(fixed_high - risk, above[kept]))
    return RiskBand(coverage, risk, se, np.maximum(low, 0.0), np.minimum(high, 1.0), level)


def _beside(groups: Groups, sums: AcceptedSums, level: float) -> tuple[Floats, Floats]:
    """(g,) how much lower and higher the risk is as far from the cut as the true one may be, on either side of it."""
    ends, total = (np.append(0.0, np.cumsum(each)) for each in (groups.weights, groups.losses))
    weight, loss = ends[1:], total[1:]
    coverage = weight / weight[-1]
    squares = sums.weight_weight - 2 * coverage * sums.weight_all + coverage**2 * sums.all_all
    far = normal_quantile((1 + level) / 2) * np.sqrt(np.maximum(squares, 0.0)) + weight[-1] / groups.n
    cuts = np.maximum(weight - far, weight[0]), np.minimum(weight + far, weight[-1])
    moved = [np.interp(cut, ends, total) / cut - loss / weight for cut in cuts]
    return -np.minimum(0.0, np.minimum(*moved)), np.maximum(0.0, np.maximum(*moved))

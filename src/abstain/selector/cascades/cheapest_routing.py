"""The routing that looks cheapest on rows that certify nothing."""

from dataclasses import dataclass, field
from typing import final

import numpy as np
from scipy.special import betainc, expit

from abstain._arrays import Floats
from abstain.selector.cascades.routing import LogOdds, Routing
from abstain.thresholds.threshold import between

Vector = tuple[float, ...]
POINTS = 32  # thresholds tried for each stage, besides all rows and none
SWEEPS = 3  # over the stages, where there are more than two
FEWEST = 8  # rows of a stage to learn its odds from; where there are fewer, all rows are used
CAUTION = (0.6, 0.8, 1.0)  # of the risk, over which the cost is averaged: rows here may be luckier than new ones
DIGITS = 9  # of a cost: what differs by less is equal, so that no last bit decides


@final
@dataclass(frozen=True, kw_only=True)
class RoutingPlan:
    """What is to be certified, on how many rows for each one here, and what answers cost."""

    risk: float
    delta: float
    ratio: float
    """Rows that certify, for each row that the routing is chosen on."""
    costs: tuple[float, ...]
    """Of running each stage on a row."""
    human_cost: float


def cheapest_routing(confidence: Floats, losses: Floats, plan: RoutingPlan, /) -> Routing:
    """The thresholds of lowest estimated cost, where as many rows are answered as would be certified.

    The chances of error are those of a smooth fit, whose cost varies less than that of counted errors. One stage after
    the other is given the best of its thresholds, the others as they are; at first all rows go to the last. It may be
    chosen in any way: a bad choice costs money, but no validity.

    Parameters
    ----------
    confidence : (n, K) array
        Of each stage, −inf where a row is not finite.
    losses : (n, K) array
        Of the answer of each stage.
    plan : RoutingPlan
        What is to be certified, and the costs.
    """
    trials, stages = _Trials(confidence, losses, plan), confidence.shape[1]
    best: Vector = (np.inf,) * (stages - 1) + (-np.inf,)
    lowest = trials.cost(best)
    for _ in range(1 if stages <= 2 else SWEEPS):
        before = lowest
        for stage in range(stages - 1):
            for value in _values(confidence[:, stage]):
                trial = (*best[:stage], value, *best[stage + 1 :])
                cost = trials.cost(trial)
                if cost < lowest:
                    best, lowest = trial, cost
        if lowest == before:
            break
    return trials.routing(best)


def _values(confidence: Floats) -> list[float]:
    """Thresholds between confidences at even steps of their ranks, from all rows to none."""
    ordered = np.sort(confidence)[::-1]
    ranks = np.unique(np.linspace(0, len(ordered), POINTS + 2).astype(np.int64))[1:-1]
    values = [between(float(ordered[rank - 1]), float(ordered[rank])) for rank in ranks]
    return list(dict.fromkeys([-np.inf, *values[::-1], np.inf]))


@final
@dataclass(frozen=True, eq=False)
class _Trials:
    """Rows to try thresholds on."""

    confidence: Floats
    losses: Floats
    plan: RoutingPlan
    odds: dict[Vector, LogOdds] = field(default_factory=dict)
    """Of the stage after these thresholds, learned before."""

    def cost(self, thresholds: Vector) -> float:
        """The mean cost of a row, estimated."""
        routing, plan = self.routing(thresholds), self.plan
        odds = routing.confidence(np.where(np.isneginf(self.confidence), np.nan, self.confidence))
        ordered = np.sort(odds[~np.isnan(odds)])[::-1]
        answered = float(np.mean([_certifiable(expit(-ordered), plan, share * plan.risk) for share in CAUTION]))
        mean = float(np.cumsum(plan.costs)[routing.stages(self.confidence)].mean())
        mean += plan.human_cost * (1 - answered / len(self.confidence))
        return round(mean, DIGITS - 1 - int(np.floor(np.log10(max(mean, 1e-300)))))

    def routing(self, thresholds: Vector) -> Routing:
        """With odds learned at each stage from the rows that reach it."""
        for stage in range(len(thresholds)):
            if (before := thresholds[:stage]) not in self.odds:
                self.odds[before] = self.learned(before)
        return Routing(thresholds, tuple(self.odds[thresholds[:stage]] for stage in range(len(thresholds))))

    def learned(self, before: Vector) -> LogOdds:
        """The odds of the stage after those with these thresholds."""
        stage = len(before)
        finite = ~np.isneginf(self.confidence[:, stage])
        here = finite & ~(self.confidence[:, :stage] > np.array(before)).any(axis=1)
        if np.count_nonzero(here) < FEWEST:
            here = finite
        return LogOdds.of(self.confidence[here, stage], self.losses[here, stage])


def _certifiable(chances: Floats, plan: RoutingPlan, risk: float) -> int:
    """How many of the most trusted rows a single exact test would certify, by their estimated chances of error."""
    numbers, errors = np.arange(1, len(chances) + 1), np.cumsum(chances)
    rows, wrong = plan.ratio * numbers, plan.ratio * errors
    p_values = betainc(np.maximum(rows - wrong, 1e-9), wrong + 1, 1 - risk)
    certain = np.flatnonzero(p_values <= plan.delta)
    return int(certain[-1]) + 1 if len(certain) else 0

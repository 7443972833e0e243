"""Labels of the most trusted rows alone, from the plan to fresh rows: what is reached with them, and what is kept."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from guarantees import noise

from abstain import Outputs, Risk, calibrate
from abstain.thresholds import label_floor, samples_for

DELTA, POWER = 0.1, 0.9
Rate = Callable[[Any], Any]


class Plan(NamedTuple):
    """What is asked for, and the error rate among the rows accepted there."""

    risk: float
    coverage: float
    error_rate: float
    label_share: float


PLANS = (
    Plan(0.01, 0.55, 0.005, 0.6),
    Plan(0.02, 0.4, 0.01, 0.45),
    Plan(0.05, 0.5, 0.02, 0.55),
    Plan(0.1, 0.3, 0.05, 0.35),
)


def labels_above(runs: int = 400) -> bool:
    """Plan, label above a floor, calibrate, decide about fresh rows: coverage as often as planned, risk kept."""
    kept = True
    for plan in PLANS:
        for rising in (False, True):
            labels, all_rows = (_planned(plan, rising=rising, share=share) for share in (plan.label_share, 1.0))
            reached, broken, coverage = outcomes(plan, labels, curve(plan, rising=rising), runs=runs)
            print(
                f"{plan}, {'rising' if rising else 'one rate'}: {labels:,} labels instead of {all_rows:,} "
                f"({1 - labels / all_rows:.0%} saved): reached in {reached:.3f}, mean coverage {coverage:.3f}, "
                f"broken in {broken:.3f}",
                flush=True,
            )
            kept &= reached >= POWER - noise(POWER, runs) and broken <= DELTA + noise(DELTA, runs)
        _, broken, _ = outcomes(plan, labels, lambda u, risk=plan.risk: np.full_like(u, 1.001 * risk), runs=runs)
        print(f"{plan}, just above the target everywhere: broken in {broken:.3f}", flush=True)
        kept &= broken <= DELTA + noise(DELTA, runs)
    return kept


def _planned(plan: Plan, *, rising: bool, share: float) -> int:
    return samples_for(
        risk=plan.risk,
        delta=DELTA,
        coverage=plan.coverage,
        error_rate=plan.error_rate,
        power=POWER,
        rising=rising,
        label_share=share,
    )


def curve(plan: Plan, *, rising: bool) -> Rate:
    """The error rate at each rank, as the plan assumes it: rising, or one rate and then all wrong."""
    if rising:
        return lambda u: np.minimum(3 * plan.error_rate * (u / plan.coverage) ** 2, 1.0)
    return lambda u: np.where(u < 1.1 * plan.coverage, plan.error_rate, 1.0)


def outcomes(plan: Plan, labels: int, rate: Rate, *, runs: int) -> tuple[float, float, float]:
    """How often the coverage is certified, how often the risk of fresh rows is above the target; the mean coverage."""
    grid = (np.arange(200_000) + 0.5) / 200_000
    true_risk = np.cumsum(rate(grid)) / np.arange(1, len(grid) + 1)
    n, reached, broken, coverages = round(labels / plan.label_share), 0, 0, []
    for run in range(runs):
        rng = np.random.default_rng([run, labels])
        u = rng.random(n)
        confidence = 1 - u
        floor = label_floor(confidence, share=plan.label_share)  # before any label
        errors = (confidence > floor) & (rng.random(n) < rate(u))  # no label below it is looked at
        target = Risk(plan.risk, delta=DELTA, label_above=floor, when_impossible="reject_all")
        selector = calibrate(Outputs(confidences={"c": confidence}, errors=errors), target)
        coverage = 1 - min(max(selector.threshold.value, 0.0), 1.0)
        reached += selector.threshold.accepted >= np.ceil(plan.coverage * n - 1e-9)
        broken += bool(coverage and true_risk[max(round(coverage * len(grid)) - 1, 0)] > plan.risk)
        coverages.append(coverage)
    return reached / runs, broken / runs, float(np.mean(coverages))

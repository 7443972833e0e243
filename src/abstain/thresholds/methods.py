"""Every threshold method by name: `calibrate`, the command and the docs read it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from abstain.thresholds.baselines import bonferroni, sgr
from abstain.thresholds.betting_sequence import betting
from abstain.thresholds.costs import chow_threshold, minimal_cost
from abstain.thresholds.coverage import target_coverage
from abstain.thresholds.joint_risk import joint_risk
from abstain.thresholds.miss_rate import risk_and_miss_rate, target_miss_rate
from abstain.thresholds.per_group import group_thresholds
from abstain.thresholds.review import target_review
from abstain.thresholds.risk_and_coverage import risk_and_coverage
from abstain.thresholds.step_down import step_down

TargetName = Literal[
    "risk",
    "coverage",
    "review",
    "cost",
    "risk and coverage",
    "risk per group",
    "risk overall and per group",
    "miss rate",
    "risk and miss rate",
]


@dataclass(frozen=True)
class Method:
    """How a threshold is chosen, and for which target."""

    name: str
    target: TargetName
    rule: Callable[..., Any]
    summary: str
    weighs_answers: bool = False
    """Whether it needs the cheapest answers instead of the classifier's own."""
    from_counts: bool = False
    """Whether counts of rows and errors by bins of confidence will do, with bins for ties."""


METHODS = {
    method.name: method
    for method in (
        Method(
            "step_down",
            "risk",
            step_down,
            "Exact tests along the ranks of independent rows; the default there.",
            from_counts=True,
        ),
        Method("betting", "risk", betting, "Bets along the ranks, for rows in clusters."),
        Method("sgr", "risk", sgr, "Binary search with a union bound (Geifman & El-Yaniv, 2017).", from_counts=True),
        Method("bonferroni", "risk", bonferroni, "A grid of thresholds with a union bound.", from_counts=True),
        Method("target_coverage", "coverage", target_coverage, "An order statistic of the confidences."),
        Method("target_review", "review", target_review, "The same for a share to reject, the risk it leaves bounded."),
        Method("minimal_cost", "cost", minimal_cost, "Lowest mean cost on a part, its cost bounded on the rest."),
        Method(
            "chow",
            "cost",
            chow_threshold,
            "Accept where rejecting is expected to cost more (Chow, 1970).",
            weighs_answers=True,
        ),
        Method("risk_and_coverage", "risk and coverage", risk_and_coverage, "Both kept together, or neither."),
        Method("target_miss_rate", "miss rate", target_miss_rate, "An order statistic of each true class's misses."),
        Method("risk_and_miss_rate", "risk and miss rate", risk_and_miss_rate, "A risk and miss rates, one threshold."),
        Method("group_thresholds", "risk per group", group_thresholds, "A threshold for each group."),
        Method("joint_risk", "risk overall and per group", joint_risk, "One threshold, a risk overall and per group."),
    )
}


def methods_for(target: TargetName, /) -> tuple[str, ...]:
    """The names of the methods for a target, the usual one first."""
    return tuple(method.name for method in METHODS.values() if method.target == target)

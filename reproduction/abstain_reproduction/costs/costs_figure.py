"""What each rule costs, and whom it answers."""

from typing import Any

import numpy as np

from abstain.report.figures.style import COLOURS, new_figure, tidy
from abstain_reproduction.costs.cost_result import BASELINE, CostResult


def costs_figure(results: list[CostResult], /) -> Any:
    """A row for each table: the difference to one threshold, and coverage by class."""
    figure = new_figure(10.6, 2.9 * len(results), "The figure of costs", dpi=180)
    for result, (left, right) in zip(results, figure.subplots(len(results), 2, squeeze=False), strict=True):
        draw_differences(left, result)
        draw_coverage(right, result)
    return figure


def draw_differences(axes: Any, result: CostResult, /) -> None:
    """Cost of each rule less that of one threshold, with 95% intervals."""
    rules = [rule for rule in result.cost if rule != BASELINE]
    means = [result.difference(rule) for rule in rules]
    colours = [COLOURS[0] if difference.is_significant and difference.mean < 0 else COLOURS[7] for difference in means]
    for position, (difference, colour) in enumerate(zip(means, colours, strict=True)):
        axes.errorbar(
            difference.mean,
            position,
            xerr=1.96 * difference.se,
            fmt="o",
            color=colour,
            markersize=5,
            linewidth=1.4,
            capsize=3,
        )
    axes.axvline(0.0, color="#333333", linewidth=0.9, linestyle="--")
    axes.set_yticks(range(len(rules)), rules, fontsize=8)
    axes.set_ylim(len(rules) - 0.5, -0.5)
    axes.set_xlabel("Cost × 100 less that of one threshold", fontsize=9)
    axes.set_title(f"{result.table.name}: cost, 95% intervals", fontsize=9)
    tidy(axes)


def draw_coverage(axes: Any, result: CostResult, /) -> None:
    """The share of each true class that a rule answers."""
    rules = [rule for rule in result.coverage if rule not in ("answer all", "reject all", "cheapest answers")]
    shares = np.array([np.mean(result.coverage[rule], axis=0) for rule in rules])
    height, hatches = 0.8 / shares.shape[1], ("", "///", "...")
    for label in range(shares.shape[1]):
        positions = np.arange(len(rules)) + (label - (shares.shape[1] - 1) / 2) * height
        axes.barh(
            positions, 100 * shares[:, label], height=0.9 * height, color=COLOURS[label], alpha=0.75,
            hatch=hatches[label], edgecolor="white", linewidth=0, label=result.table.classes[label],
        )  # fmt: skip
    axes.set_yticks(range(len(rules)), rules, fontsize=8)
    axes.set_ylim(len(rules) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("Answered (%)")
    axes.set_title(f"{result.table.name}: coverage by true class", fontsize=9)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    tidy(axes)

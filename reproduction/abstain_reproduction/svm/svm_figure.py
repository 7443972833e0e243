"""The two margins of an SVM against each other, their curves, and the difference on every table."""

from typing import Any

import numpy as np

from abstain.metrics import risk_coverage
from abstain.report.figures.style import COLOURS, new_figure, tidy
from abstain.scores import confidence_margin
from abstain_reproduction.svm.machines import Machines

GRID = np.linspace(0.02, 1.0, 197)


def svm_figure(results: list[Machines], /) -> Any:
    """Margins, curves of the table with most rows, and differences."""
    figure = new_figure(12.4, 3.3, "The figure of the SVM")
    panels = figure.subplot_mosaic([["margins", "curves", machines.table] for machines in results])
    margins, curves = panels["margins"], panels["curves"]
    largest = max(results, key=lambda machines: len(machines.all[0].outputs))
    draw_margins(margins, largest)
    draw_curves(curves, largest)
    below = [panels[machines.table] for machines in results]
    for axes, machines in zip(below, results, strict=True):
        draw_differences(axes, machines)
    below[0].set_title("(c) difference, 95% intervals, each on its own axis", fontsize=9)
    below[-1].set_xlabel("AURC × 100 less that of RL_conf-M (left: better)")
    middle = below[len(below) // 2]
    middle.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def draw_margins(axes: Any, machines: Machines, /) -> None:
    """Both margins of every row of one split: right, wrong, and where the rules disagree."""
    machine = machines.all[0]
    confidence, geometric = (machine.confidences[name] for name in ("confidence_margin", "geometric_margin"))
    wrong, differ = machine.outputs.errors, geometric < 0
    for rows, colour, marker, size, label in (
        (~wrong & ~differ, COLOURS[0], ".", 6, "right"),
        (wrong & ~differ, COLOURS[1], "^", 12, "wrong"),
        (differ, "#000000", "x", 14, "rules disagree"),
    ):
        axes.scatter(
            confidence[rows], geometric[rows], s=size, color=colour, marker=marker, linewidths=0.7, label=label,
            rasterized=True,
        )  # fmt: skip
    axes.axhline(0.0, color="#999999", linewidth=0.8)
    axes.set(xlabel="Confidence margin", ylabel="Geometric margin of the same class")
    axes.set_title(f"(a) the two margins, {machines.table}", fontsize=9)
    axes.legend(frameon=False, fontsize=8)
    tidy(axes)


def draw_curves(axes: Any, machines: Machines, /) -> None:
    """Risk over coverage, the mean over the splits."""
    looks = {
        "RL_conf-M": (COLOURS[0], "-"),
        "RL_geo-M": (COLOURS[1], "--"),
        "RL_pair-M": (COLOURS[2], "-."),
        "geometric rule, its margin": (COLOURS[7], ":"),
    }
    names = ("confidence_margin", "geometric_margin", "pairwise_margin", "geometric rule")
    for name, (label, (colour, style)) in zip(names, looks.items(), strict=True):
        risks = []
        for machine in machines.all:
            of_rule = name == "geometric rule"
            confidence = confidence_margin(machine.distances) if of_rule else machine.confidences[name]
            curve = risk_coverage(confidence, machine.geometric_errors if of_rule else machine.outputs.errors)
            risks.append(np.interp(GRID, curve.coverage, curve.risk))
        axes.plot(100 * GRID, 100 * np.mean(risks, axis=0), color=colour, linestyle=style, linewidth=1.5, label=label)
    axes.set(xlim=(0, 100), xlabel="Coverage (%)", ylabel="Selective risk (%)")
    axes.set_ylim(bottom=0)
    axes.set_title(f"(b) mean of {len(machines.all)} splits, {machines.table}", fontsize=9)
    axes.legend(frameon=False, fontsize=8)
    tidy(axes)


def draw_differences(axes: Any, machines: Machines, /) -> None:
    """AURC of other margins less that of the confidence margin on a table, on an axis of its own."""
    others = {"geometric_margin": "RL_geo-M", "pairwise_margin": "RL_pair-M", "geometric rule": "geometric rule"}
    looks = zip((COLOURS[1], COLOURS[2], COLOURS[7]), "osD", strict=True)
    for position, ((name, label), (colour, marker)) in enumerate(zip(others.items(), looks, strict=True)):
        difference = machines.difference(name, "confidence_margin")
        axes.errorbar(
            [difference.mean], [position], xerr=[1.96 * difference.se], fmt=marker, color=colour, markersize=4,
            linewidth=1.2, capsize=2, label=label,
        )  # fmt: skip
    axes.axvline(0.0, color="#333333", linewidth=0.9, linestyle="--")
    axes.set_yticks([1], [machines.table])
    axes.set_ylim(len(others) - 0.4, -0.6)
    axes.tick_params(labelsize=8)
    tidy(axes)

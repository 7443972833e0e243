"""Labelled rows needed for a guarantee, as a figure."""

from typing import Any

import numpy as np

from abstain.report.figures.style import COLOURS, new_figure, tidy
from abstain.thresholds.planning import samples_for

COVERAGES = (0.9, 0.6, 0.4)


def plan_figure(*, risk: float, delta: float, coverage: float, power: float = 0.9) -> Any:
    """Rows needed over the true share of errors among the accepted, a curve for each coverage."""
    figure = new_figure(4.6, 3.1, "The plan's figure")
    axes = figure.subplots()
    rates = risk * np.linspace(0.0, 0.85, 12)
    styles = ("-", "--", ":")
    coverages = sorted({coverage, *COVERAGES}, reverse=True)[:4]
    for index, each in enumerate(coverages):
        needed = [samples_for(risk=risk, delta=delta, coverage=each, error_rate=rate, power=power) for rate in rates]
        style = "-" if each == coverage else styles[index % 3 if index % 3 else 1]
        width = 2.0 if each == coverage else 1.2
        axes.plot(rates, needed, color=COLOURS[index], linestyle=style, linewidth=width, label=f"coverage {each:g}")
    axes.set_yscale("log")
    axes.set_xlabel("True share of errors among the accepted")
    axes.set_ylabel("Labelled rows needed")
    axes.set_title(f"risk ≤ {risk:g} with probability {1 - delta:g}", fontsize=9)
    tidy(axes)
    axes.legend(frameon=False, fontsize=8)
    return figure

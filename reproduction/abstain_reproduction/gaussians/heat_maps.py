"""App. D: each score over the plane, as the share of samples it trusts less, so that colours mean one thing."""

from typing import Any

import numpy as np

from abstain.report.figures.style import label_of, new_figure, tidy
from abstain.scores import SCORES
from abstain_reproduction.gaussians.cases import COVERAGE, ToyCase

REACH, POINTS = 2.2, 241
ORDER = ("geometric_margin", "max_softmax", "neg_entropy", "doctor", "max_logit")  # the paper's


def heat_maps_figure(case: ToyCase, /) -> Any:
    """A panel for each score."""
    figure = new_figure(12.6, 2.9, "The heat maps")
    panels = figure.subplots(1, len(ORDER), sharey=True)
    for letter, axes, name in zip("abcde", panels, ORDER, strict=True):
        image = draw_heat_map(axes, case, name)
        axes.set_title(f"({letter}) {label_of(SCORES[name])}", fontsize=9)
    panels[0].set_ylabel("$x_2$", labelpad=0)
    bar = figure.colorbar(image, ax=list(panels), shrink=0.85, pad=0.01)
    bar.set_label("Samples trusted less (%)", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    return figure


def draw_heat_map(axes: Any, case: ToyCase, name: str, /) -> Any:
    """At each point, the share of samples with lower confidence; what is rejected first is dark."""
    population, line = case.populations[name], np.linspace(-REACH, REACH, POINTS)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    seen = np.sort(population.confidence(np.asarray(case.sample.features)))
    share = 100 * np.searchsorted(seen, population.confidence(grid)) / len(seen)
    share = share.reshape(POINTS, POINTS)
    image = axes.imshow(share, extent=(-REACH, REACH, -REACH, REACH), origin="lower", cmap="viridis", vmin=0, vmax=100)
    lines = axes.contour(line, line, share, levels=[10, 40, 60, 80], colors="white", linewidths=0.5)
    axes.clabel(lines, fmt="%d", fontsize=6)
    axes.contour(line, line, share, levels=[100 * (1 - COVERAGE)], colors="#d55e00", linewidths=1.4)
    axes.set_xlabel("$x_1$")
    tidy(axes)
    axes.grid(visible=False)
    return image

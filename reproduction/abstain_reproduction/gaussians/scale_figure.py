"""Fig. 2: the data, and the risk–coverage curves of the softmax scores at several scales of the logits."""

from typing import Any

import numpy as np

from abstain.evaluation.figures.scale import draw_scale
from abstain.evaluation.sensitivity import ScaleSensitivity
from abstain.outputs import Outputs
from abstain.report.figures.style import COLOURS, label_of, new_figure, tidy
from abstain.scores import SCORES
from abstain_reproduction.gaussians.mixture import CORNERS, POSTERIOR_SCALE
from abstain_reproduction.gaussians.scale_curves import ScaleCurves

SHOWN = 1200
STYLES = (":", "-.", "--", (0, (6, 1)))
MARKERS = ("o", "s", "^", "D")
POSTERIOR = "s_post, the true posterior"


def curves_figure(curves: ScaleCurves, sample: Outputs, /) -> Any:
    """A panel with the data and one for each softmax score."""
    figure = new_figure(11.6, 2.9, "The figure of the scale")
    data, *panels = figure.subplots(1, 4)
    draw_classes(data, sample.select(np.arange(SHOWN)))
    data.set_title("(a) data and classifier", fontsize=9)
    highest = max(curve.risk.max() for by_scale in curves.at_scales.values() for curve in by_scale.values())
    for letter, axes, name in zip("bcd", panels, curves.at_scales, strict=True):
        draw_curves(axes, curves, name)
        axes.set_title(f"({letter}) {label_of(SCORES[name])}", fontsize=9)
        axes.set_ylim(0, 104 * highest)
    panels[0].set_ylabel("Selective risk (%)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8)
    return figure


def draw_classes(axes: Any, sample: Outputs, /) -> None:
    """Samples by class, each with its own colour and marker, and the decision boundaries."""
    x, labels = np.asarray(sample.features), np.asarray(sample.labels)
    for label, colour, marker in zip(range(len(CORNERS)), COLOURS, MARKERS, strict=False):
        own = x[labels == label]
        axes.scatter(*own.T, s=5, marker=marker, color=colour, alpha=0.55, linewidths=0, rasterized=True)
    for line in (axes.axhline, axes.axvline):
        line(0.0, color="#222222", linewidth=1.0, linestyle="--")
    axes.set_aspect("equal", adjustable="datalim")  # as high as the panels beside it
    axes.set_xlabel("$x_1$")
    axes.set_ylabel("$x_2$", labelpad=0)
    tidy(axes)


def draw_curves(axes: Any, curves: ScaleCurves, name: str, /) -> None:
    """Curves of a softmax score at the paper's scales, and those of the margin and of the posterior."""
    for (scale, curve), colour, style in zip(curves.at_scales[name].items(), COLOURS[1:], STYLES, strict=False):
        label = f"softmax, λ = {scale:g}"
        axes.plot(100 * curve.coverage, 100 * curve.risk, color=colour, linestyle=style, linewidth=1.5, label=label)
    margin, posterior = curves.margin, curves.posterior
    axes.plot(
        100 * margin.coverage,
        100 * margin.risk,
        color="#222222",
        linewidth=1.6,
        label=f"{label_of(SCORES['confidence_margin'])}, λ → ∞",
    )
    axes.plot(
        100 * posterior.coverage, 100 * posterior.risk, color=COLOURS[5], linewidth=1.1, linestyle=(0, (1, 1)),
        label=POSTERIOR,
    )  # fmt: skip
    axes.set_xlabel("Coverage (%)")
    axes.set_xlim(0, 100)
    tidy(axes)


def areas_figure(population: ScaleSensitivity, network: ScaleSensitivity, posterior: float, /) -> Any:
    """AURC over the scale: the mixture, with the area of the posterior, and a network's real logits."""
    figure = new_figure(12.4, 3.1, "The figure of the scale")
    toy, near, real = figure.subplots(1, 3)
    for axes, sensitivity in ((toy, population), (near, population), (real, network)):
        draw_scale(axes, sensitivity)
        axes.get_legend().remove()
    for axes in (toy, near):
        axes.axhline(100 * posterior, color=COLOURS[5], linewidth=1.4, linestyle=(0, (1, 1)), label=POSTERIOR)
    near.set(xlim=(2.5, 50), ylim=(98 * population.margin, 103 * population.margin), xlabel="Scale λ of the logits")
    near.axvline(POSTERIOR_SCALE, color="#999999", linewidth=0.8, linestyle=":")
    for line in near.lines:
        line.set_clip_on(True)
    near.texts[0].set(text="1/σ²", x=POSTERIOR_SCALE)
    near.set_xticks([3, 10, 30], ["3", "10", "30"])
    near.xaxis.set_minor_formatter(lambda *_: "")
    near.set_ylabel("")
    toy.set_title("Four Gaussians, the population", fontsize=9, pad=14)
    near.set_title("The same near the margin", fontsize=9, pad=14)
    real.set_title(f"A network on digits (n = {network.n:,})", fontsize=9, pad=14)
    figure.legend(*toy.get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8)
    return figure

"""Fig. 3: curves, what is rejected, and robustness radii of what is selected, a row for each case."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.report.figures.style import COLOURS, label_of, new_figure, tidy
from abstain.scores import SCORES
from abstain_reproduction.gaussians.cases import COMPARED, COVERAGE, ToyCase
from abstain_reproduction.gaussians.scale_figure import draw_classes

Floats = NDArray[np.float64]
SHOWN = 1000
REACH = {1: 2.2, 2: 2.6, 3: 4.2}  # of the axes, by case
LOOKS: dict[str, dict[str, Any]] = {
    "geometric_margin": {"color": COLOURS[0], "linestyle": "-"},
    "max_softmax": {"color": COLOURS[1], "linestyle": "--"},
    "doctor": {"color": COLOURS[2], "linestyle": "-."},
    "neg_entropy": {"color": COLOURS[3], "linestyle": (0, (6, 1))},
    "max_logit": {"color": COLOURS[7], "linestyle": ":"},
}


def toy_figure(cases: list[ToyCase], /) -> Any:
    """A row for each case, as in the paper."""
    figure = new_figure(12.6, 9.0, "The figure of the toy example", dpi=160)
    for case, (curves, ours, softmax, radii) in zip(cases, figure.subplots(len(cases), 4), strict=True):
        draw_case(curves, case)
        draw_rejected(ours, case, "geometric_margin")
        draw_rejected(softmax, case, "max_softmax")
        draw_radii(radii, case)
        for letter, axes in zip("abcd", (curves, ours, softmax, radii), strict=True):
            axes.set_title(f"({letter}-{case.number}) {axes.get_title()}", fontsize=9)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def rejections_figure(cases: list[ToyCase], /) -> Any:
    """What every score rejects, a row for each case."""
    figure = new_figure(12.6, 7.8, "The figure of the toy example", dpi=160)
    for case, row in zip(cases, figure.subplots(len(cases), len(COMPARED)), strict=True):
        for axes, name in zip(row, COMPARED, strict=True):
            draw_rejected(axes, case, name)
            axes.set_ylabel("")
        row[0].set_ylabel(f"case {case.number}: {case.name}\n$x_2$")
    return figure


def draw_case(axes: Any, case: ToyCase, /) -> None:
    """The risk–coverage curves of a case, and the lowest there can be."""
    for name, curve in case.curves.items():
        label = label_of(SCORES[name])
        axes.plot(100 * curve.coverage, 100 * curve.risk, linewidth=1.6, label=label, **LOOKS[name])
    best = case.best
    label = "s_post, the lowest there can be"
    axes.plot(100 * best.coverage, 100 * best.risk, color="#000000", linewidth=1.2, linestyle=(0, (1, 1)), label=label)
    axes.set(xlim=(0, 100), xlabel="Coverage (%)", ylabel="Selective risk (%)", title=f"risk, {case.name}")
    axes.set_ylim(bottom=0)
    tidy(axes)


def draw_rejected(axes: Any, case: ToyCase, name: str, /) -> None:
    """Samples by class, and crosses on those that a score rejects at a coverage of 0.8; its region is shaded."""
    sample, reach = case.sample.select(np.arange(SHOWN)), REACH[case.number]
    x = np.asarray(sample.features)
    line = np.linspace(-reach, reach, 121)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    above = (case.populations[name].confidence(grid) - case.thresholds[name]).reshape(len(line), len(line))
    axes.contourf(line, line, above, levels=[-np.inf, 0.0], colors=["#dddddd"], zorder=0)
    draw_classes(axes, sample)
    rejected = case.populations[name].confidence(x) <= case.thresholds[name]
    axes.scatter(*x[rejected].T, marker="x", s=7, color="#000000", linewidths=0.6, rasterized=True)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), title=f"rejected by {label_of(SCORES[name])}")
    axes.set_aspect("equal", adjustable="box")
    axes.title.set_fontsize(9)
    axes.grid(visible=False)


def draw_radii(axes: Any, case: ToyCase, /) -> None:
    """Robustness radii of the selected, by score: how many in a bin, in thousands; the margin's smallest is marked."""
    x = np.asarray(case.sample.features)
    radii = abs(x).min(axis=1)
    smallest = case.populations["geometric_margin"].smallest_radius(COVERAGE)
    bins = np.arange(0.0, float(np.quantile(radii, 0.99)), smallest / 9)  # one begins at the margin's smallest
    for name in reversed(COMPARED):
        selected = case.populations[name].confidence(x) > case.thresholds[name]
        counts = np.histogram(radii[selected], bins=bins)[0] / 1000
        axes.stairs(counts, bins, baseline=None, linewidth=1.5, **LOOKS[name])
    axes.axvline(smallest, color=COLOURS[0], linewidth=0.8, linestyle=(0, (1, 1)))
    axes.set(xlabel="Robustness radius", ylabel="Selected samples (thousands)", title=f"radii, {case.name}")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    tidy(axes)

"""Fig. 10: risk–coverage curves of KNN for several k, and the area over k."""

from typing import Any

import numpy as np

from abstain.report.figures.style import COLOURS, FIRST_SAMPLES, label_of, new_figure, tidy
from abstain.scores import SCORES
from abstain_reproduction.knn.ablation import KS, LARGE, PAPER, Ablation

BESIDE = 4  # models
STYLES = ("-", "--", "-.", ":", (0, (6, 1)))


def ablation_figure(smaller: list[Ablation], larger: list[Ablation], /) -> Any:
    """Curves of each model above, areas below, four models per row."""
    beside = min(len(smaller), BESIDE)
    bands = -(-len(smaller) // beside)
    figure = new_figure(max(2.7 * beside, 7.0), 4.3 * bands + 0.8, "The figure of the ablation", dpi=180)
    panels = figure.subplots(2 * bands, beside, squeeze=False)
    curves, areas = (panels[first::2].ravel() for first in (0, 1))
    for unused in (*curves[len(smaller) :], *areas[len(smaller) :]):
        unused.remove()
    ks = sorted({k for small in smaller for k in small.ks})
    for small, large, above, below in zip(smaller, larger, curves, areas, strict=False):
        draw_curves(above, small, ks)
        draw_areas(below, small, large)
        above.set_title(f"{small.name} (n = {len(small.draws[0].outputs):,})", fontsize=9)
    widest = max(zip(curves, smaller, strict=False), key=lambda pair: len(pair[1].ks))[0]
    figure.legend(
        *widest.get_legend_handles_labels(), loc="outside lower left", ncols=4, title="above", frameon=False, fontsize=9
    )
    banks = "below, shaded: range over banks"
    figure.legend(
        *areas[0].get_legend_handles_labels(), loc="outside lower right", title=banks, frameon=False, fontsize=9
    )
    return figure


def draw_curves(axes: Any, ablation: Ablation, ks: list[int], /) -> None:
    """A curve for each k, from dark (few) to light (many of ``ks``); the paper's k is thick."""
    from matplotlib import colormaps

    for k in ablation.ks:
        curve = ablation.curve(k)
        shown = curve.coverage * len(ablation.draws[0].outputs) >= FIRST_SAMPLES
        width = 2.4 if k == PAPER else 1.2
        shade = colormaps["viridis"](0.85 * ks.index(k) / max(len(ks) - 1, 1))  # the same in every panel
        style = STYLES[KS.index(k) % len(STYLES)] if k in KS else "-"
        x, y = 100 * curve.coverage[shown], 100 * curve.risk[shown]
        axes.plot(x, y, color=shade, linewidth=width, linestyle=style, label=f"k = {k}")
    axes.set(xlim=(0, 100), xlabel="Coverage (%)", ylabel="Selective risk (%)")
    axes.set_ylim(bottom=0)
    tidy(axes)


def draw_areas(axes: Any, smaller: Ablation, larger: Ablation, /) -> None:
    """The area over k: mean and range over the banks, small and large, and the margin's."""
    looks = ((smaller, COLOURS[0], "o-", "5 × classes rows"), (larger, COLOURS[2], "s--", f"{LARGE:,} rows, or half"))
    for ablation, colour, style, label in looks:
        areas = 100 * np.array([ablation.areas[k] for k in ablation.ks])
        axes.fill_between(ablation.ks, areas.min(axis=1), areas.max(axis=1), color=colour, alpha=0.18, linewidth=0)
        axes.plot(
            ablation.ks, areas.mean(axis=1), style, color=colour, markersize=4, linewidth=1.4, label=f"bank: {label}"
        )
    axes.axvline(PAPER, color="#999999", linewidth=0.8, linestyle=":")
    axes.axhline(
        100 * smaller.margin,
        color=COLOURS[1],
        linewidth=1.2,
        linestyle="-.",
        label=label_of(SCORES["confidence_margin"]),
    )
    axes.set_xscale("log")
    axes.set_xticks(larger.ks, [str(k) for k in larger.ks])
    axes.minorticks_off()
    axes.set(xlabel="Neighbours k", ylabel="AURC × 100")
    axes.set_ylim(bottom=0)
    tidy(axes)

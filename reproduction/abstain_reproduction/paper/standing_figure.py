"""How far each score of the printed tables is above the best of its column."""

from collections.abc import Sequence
from typing import Any

from abstain.metrics.intervals import ALPHAS
from abstain.report.figures.style import COLOURS, new_figure, tidy
from abstain_reproduction.paper.published_areas import PublishedAreas
from abstain_reproduction.paper.score_claims import COMPARABLE, FOR_OOD, MARGINS, SOFTMAX

FAMILIES = {  # scores, colour, marker, and how far beside the column they are drawn
    "margins": (MARGINS, COLOURS[0], "o", -0.22),
    "softmax scores and SIRC": (SOFTMAX, COLOURS[1], "^", 0.0),
    "made for OOD detection": (FOR_OOD, COLOURS[7], "x", 0.22),
}


def standing_figure(models: Sequence[tuple[str, PublishedAreas]], /) -> Any:
    """A panel a model: AURC-α over that of the best of the column, on a log scale."""
    figure = new_figure(10.5, 5.4, "The figure of the printed tables")
    for axes, (name, areas) in zip(figure.subplots(2, 3, sharey=True).flat, models, strict=True):
        _draw(axes, areas)
        axes.set_title(name, fontsize=9, pad=14)
    for axes in figure.axes[::3]:
        axes.set_ylabel("AURC-α / best of the column")
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=8
    )
    return figure


def _draw(axes: Any, areas: PublishedAreas) -> None:
    columns = [(mix, alpha) for mix in areas.mixes for alpha in ALPHAS]
    axes.axhspan(1, 1 + COMPARABLE[0], color="#009e73", alpha=0.15, linewidth=0, label=f"within {COMPARABLE[0]:.0%}")
    for label, (scores, colour, marker, offset) in FAMILIES.items():
        points = [
            (
                position + offset,
                areas.area(score, *column) / min(areas.area(rival, *column) for rival in areas.scores),
            )
            for position, column in enumerate(columns)
            for score in scores
        ]
        axes.plot(*zip(*points, strict=True), marker, color=colour, markersize=4, label=label)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    axes.set_xticks(range(len(columns)), [f"{alpha:g}" for _, alpha in columns], fontsize=7)
    for position, mix in enumerate(areas.mixes):
        axes.text(
            3 * position + 1, 1.01, mix, transform=axes.get_xaxis_transform(), ha="center", va="bottom", fontsize=7
        )
        if position:
            axes.axvline(3 * position - 0.5, color="#999999", linewidth=0.6)
    axes.set_xlabel("α", fontsize=8)
    tidy(axes)

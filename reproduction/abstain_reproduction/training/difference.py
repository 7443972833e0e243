"""Differences with their intervals, in panels."""

from collections.abc import Mapping
from typing import Any, Protocol

from abstain.report.figures.style import COLOURS, MARKERS, new_figure, tidy


class IntervalOfDifference(Protocol):
    """A difference of areas, as a fraction, and its interval."""

    @property
    def mean(self) -> float: ...  # noqa: D102
    @property
    def low(self) -> float: ...  # noqa: D102
    @property
    def high(self) -> float: ...  # noqa: D102


def difference_figure(
    panels: Mapping[str, Mapping[str, Mapping[str, IntervalOfDifference]]], /, *, against: str
) -> Any:
    """A panel for each mix, a line for each name, a mark for each score: AURC × 100 minus that of ``against``."""
    names = list(next(iter(panels.values())))
    figure = new_figure(2.5 * len(panels) + 1.5, 0.42 * len(names) + 1.3, "The figure of differences")
    for axes, (mix, lines) in zip(
        figure.subplots(1, len(panels), squeeze=False, sharey=True)[0], panels.items(), strict=True
    ):
        draw_differences(axes, lines)
        axes.set_title(mix, fontsize=9)
    figure.supxlabel(f"AURC × 100 minus that of {against} (left is better), 95% interval", fontsize=8)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize=8)
    return figure


def draw_differences(axes: Any, lines: Mapping[str, Mapping[str, IntervalOfDifference]], /) -> None:
    """Draw one panel on Matplotlib axes."""
    scores = list(next(iter(lines.values())))
    for index, score in enumerate(scores):
        differences = [line[score] for line in lines.values()]
        heights = [-number + 0.28 * ((len(scores) - 1) / 2 - index) for number in range(len(differences))]
        means = [100 * each.mean for each in differences]
        sides = [
            [100 * (each.mean - each.low) for each in differences],
            [100 * (each.high - each.mean) for each in differences],
        ]
        style = {"fmt": MARKERS[index % len(MARKERS)], "color": COLOURS[index % len(COLOURS)], "label": score}
        axes.errorbar(means, heights, xerr=sides, markersize=4, linewidth=1.2, capsize=2, **style)
    axes.axvline(0, color="#888888", linewidth=0.8)
    axes.set_yticks([-number for number in range(len(lines))], list(lines))
    tidy(axes)

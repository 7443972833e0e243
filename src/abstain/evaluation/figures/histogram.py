"""How a score spreads over right answers, wrong ones and unknown classes, with the threshold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain.evaluation import Evaluation
from abstain.evaluation.operating_point import Point
from abstain.report.figures.style import (
    COLOURS,
    COLUMN,
    INK,
    SIZE,
    CannotDrawError,
    label_of,
    new_figure,
    plain,
    printed,
)

BINS = 40
KINDS: dict[str, dict[str, Any]] = {
    "right": {"color": COLOURS[0], "linestyle": "-", "hatch": None},
    "wrong": {"color": COLOURS[1], "linestyle": "--", "hatch": "///"},
    "unknown class": {"color": COLOURS[2], "linestyle": "-.", "hatch": "..."},
}
"""They differ by line and hatching too."""


def histogram_figure(evaluation: Evaluation, point: Point, /) -> Any:
    """The score of an operating point over all rows, with its threshold."""
    if point.outputs.is_graded:
        raise CannotDrawError("answers have losses between 0 and 1, and are not right or wrong")
    figure = new_figure(COLUMN, 2.3, "The histogram")
    axes, entry = figure.subplots(), evaluation.entries.get(point.score)
    known = point.outputs.labels
    unknown = np.zeros(len(point.errors), dtype=bool) if known is None else known < 0
    draw_histogram(axes, point.confidence, point.errors, unknown=unknown, threshold=point.value)
    axes.set_xlabel(plain(point.score) if entry is None else label_of(entry))
    axes.legend(frameon=False, fontsize=SIZE)
    printed(axes)
    return figure


def draw_histogram(
    axes: Any,
    confidence: Floats,
    errors: NDArray[np.bool_],
    /,
    *,
    unknown: NDArray[np.bool_],
    threshold: float | None = None,
) -> None:
    """Shares of right, wrong and unknown samples over a confidence, on Matplotlib axes; what is far out is in the ends.

    Rows that no threshold accepts, of confidence −inf or NaN, are not drawn, but counted.
    """
    seen = np.isfinite(confidence)
    edges = edges_of(confidence[seen])
    for kind, rows in (("right", ~errors), ("wrong", errors & ~unknown), ("unknown class", unknown)):
        if rows.any():
            inside = np.clip(confidence[rows & seen], edges[0], edges[-1])
            shares = np.histogram(inside, bins=edges)[0] / len(confidence)
            draw_kind(axes, np.repeat(edges, 2)[1:-1], 100 * np.repeat(shares, 2), kind)
    if threshold is not None and edges[0] <= threshold <= edges[-1]:
        axes.axvline(threshold, color=INK, linewidth=1.0)
        style = {"transform": axes.get_xaxis_transform(), "fontsize": SIZE - 1, "va": "bottom", "color": INK}
        axes.text(threshold, 1.01, "rejected ◂ ", ha="right", **style)
        axes.text(threshold, 1.01, " ▸ accepted", ha="left", **style)
    axes.set_ylabel("Samples (%)")
    axes.set_ylim(bottom=0)


def edges_of(confidence: Floats, /) -> Floats:
    """(BINS + 1,) even edges over all but the last 0.2% on each side, a little apart where all are the same."""
    low, high = (0.0, 1.0) if not confidence.size else np.quantile(confidence, [0.002, 0.998])
    room = 0.0 if high > low else 0.5 * max(abs(low), 1.0)
    return np.linspace(low - room, high + room, BINS + 1)


def draw_kind(axes: Any, x: Floats, height: Floats, kind: str, /) -> None:
    """How one kind of samples is spread: a line, and the area below it."""
    look = KINDS[kind]
    axes.fill_between(x, height, color=look["color"], alpha=0.22, linewidth=0, hatch=look["hatch"])
    axes.plot(x, height, color=look["color"], linestyle=look["linestyle"], linewidth=1.2, label=kind)

"""Whether promises are kept: what was certified against what came of it."""

from collections.abc import Sequence
from typing import Any

from abstain.evaluation import Evaluation
from abstain.evaluation.promises import Kept, kept_promises
from abstain.report.figures.style import COLOURS, COLUMN, RULE, SIZE, CannotDrawError, new_figure, plain, printed
from abstain.report.point import Point


def promise_figure(evaluation: Evaluation, point: Point, /, *, delta: float = 0.05) -> Any:
    """Promises for the score of an operating point, made on one half of the rows and looked at on the other."""
    outputs = point.outputs
    found = kept_promises(point.confidence, point.errors, ids=outputs.ids, delta=delta, level=evaluation.level)
    if not found:
        raise CannotDrawError("no risk can be certified on half of the rows")
    figure = new_figure(COLUMN, 2.8, "The figure of promises")
    axes = figure.subplots()
    draw_promises(axes, found)
    axes.set_title(f"{plain(point.score)}: certified on one half, seen on the other", loc="left", fontsize=SIZE)
    axes.set_xlabel(f"Certified: risk at most … with probability {1 - delta:g} (%)")
    return figure


def draw_promises(axes: Any, found: Sequence[Kept], /) -> None:
    """Draw realised risks with their intervals over certified ones on Matplotlib axes; below the diagonal is kept.

    One whose whole interval is above it is a square of another colour. The numbers are coverages.
    """
    highest = 106 * max(max(one.bound, one.realised.high) for one in found)
    axes.plot([0, highest], [0, highest], color=RULE, linewidth=0.9, linestyle="--", label="kept exactly")
    for broken, look in ((False, {"fmt": "o", "color": COLOURS[0]}), (True, {"fmt": "s", "color": COLOURS[1]})):
        some = [one for one in found if (one.realised.low > one.bound) == broken]
        if not some:
            continue
        sides = [
            [100 * max(one.realised.value - one.realised.low, 0.0) for one in some],
            [100 * max(one.realised.high - one.realised.value, 0.0) for one in some],
        ]
        x, y = [100 * one.bound for one in some], [100 * one.realised.value for one in some]
        label = "broken" if broken else "realised (number: coverage)"
        axes.errorbar(x, y, yerr=sides, markersize=3.2, linewidth=0.9, capsize=1.5, label=label, **look)
        for one, left, height in zip(some, x, y, strict=True):
            axes.annotate(
                f"{100 * one.coverage:.0f}%", (left, height), xytext=(3, -7), textcoords="offset points",
                fontsize=SIZE - 2, color="#555555",
            )  # fmt: skip
    axes.set(xlabel="Certified risk (%)", ylabel="Realised risk (%)", xlim=(0, highest), ylim=(0, highest))
    printed(axes)
    axes.legend(frameon=False, fontsize=SIZE - 1, loc="upper left")

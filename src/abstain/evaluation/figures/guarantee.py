"""Whether guarantees are kept: what was certified against what came of it."""

from collections.abc import Sequence
from typing import Any

from abstain.evaluation import Evaluation
from abstain.evaluation.guarantee_check import GuaranteeCheck, kept_guarantees
from abstain.evaluation.operating_point import Point
from abstain.report.figures.style import COLOURS, COLUMN, RULE, SIZE, CannotDrawError, new_figure, plain, printed


def guarantee_figure(evaluation: Evaluation, point: Point, /, *, delta: float = 0.05) -> Any:
    """Guarantees for the score of an operating point, made on one half of the rows and checked on the other."""
    outputs = point.outputs
    checks = kept_guarantees(point.confidence, point.errors, ids=outputs.ids, delta=delta, level=evaluation.level)
    if not checks:
        raise CannotDrawError("no risk can be certified on half of the rows")
    figure = new_figure(COLUMN, 2.8, "The figure of guarantees")
    axes = figure.subplots()
    draw_guarantees(axes, checks)
    axes.set_title(f"{plain(point.score)}: certified on one half, observed on the other", loc="left", fontsize=SIZE)
    axes.set_xlabel(f"Certified: risk at most … with probability {1 - delta:g} (%)")
    return figure


def draw_guarantees(axes: Any, checks: Sequence[GuaranteeCheck], /) -> None:
    """Draw realised risks with their intervals over certified ones on Matplotlib axes; below the diagonal is kept.

    One whose whole interval is above it is a square of another colour. The numbers are coverages.
    """
    highest = 106 * max(max(check.bound, check.realised.high) for check in checks)
    axes.plot([0, highest], [0, highest], color=RULE, linewidth=0.9, linestyle="--", label="kept exactly")
    for broken, look in ((False, {"fmt": "o", "color": COLOURS[0]}), (True, {"fmt": "s", "color": COLOURS[1]})):
        some = [check for check in checks if (check.realised.low > check.bound) == broken]
        if not some:
            continue
        sides = [
            [100 * max(check.realised.value - check.realised.low, 0.0) for check in some],
            [100 * max(check.realised.high - check.realised.value, 0.0) for check in some],
        ]
        x, y = [100 * check.bound for check in some], [100 * check.realised.value for check in some]
        label = "broken" if broken else "realised (number: coverage)"
        axes.errorbar(x, y, yerr=sides, markersize=3.2, linewidth=0.9, capsize=1.5, label=label, **look)
        for check, left, height in zip(some, x, y, strict=True):
            axes.annotate(
                f"{100 * check.coverage:.0f}%", (left, height), xytext=(3, -7), textcoords="offset points",
                fontsize=SIZE - 2, color="#555555",
            )  # fmt: skip
    axes.set(xlabel="Certified risk (%)", ylabel="Realised risk (%)", xlim=(0, highest), ylim=(0, highest))
    printed(axes)
    axes.legend(frameon=False, fontsize=SIZE - 1, loc="upper left")

"""Risk and coverage of each group or class at a threshold."""

from collections.abc import Sequence
from typing import Any, Literal

from abstain.evaluation import Evaluation
from abstain.evaluation.divisions import Division, divisions
from abstain.evaluation.operating_point import Point
from abstain.metrics.group_comparison import compare_groups
from abstain.metrics.slices import ShareEstimate, Slice
from abstain.report.figures.style import COLOURS, PAGE, RULE, SIZE, CannotDrawError, new_figure, plain, printed

SHOWN = 24  # lines


def slices_figure(evaluation: Evaluation, point: Point, /, *, by: Literal["group", "class"]) -> Any:
    """A line for each group or true class: the risk among its accepted rows, and the share of it that is accepted."""
    division, outputs = _division(point, by), point.outputs
    compared = compare_groups(
        division.number, point.accepted, point.errors, ids=outputs.clusters, level=evaluation.level
    )
    parts = compared.groups
    names = [division.parts[int(part.name)] for part in parts]
    order = sorted(range(len(parts)), key=lambda index: _worst_first(parts[index]))
    shown = order[:SHOWN]
    figure = new_figure(PAGE, 0.9 + 0.17 * len(shown), "The figure of slices")
    risk, coverage = figure.subplots(1, 2, sharey=True)
    overall = point.risk if point.accepted.any() else None
    draw_shares(risk, [(names[k], parts[k].risk) for k in shown], overall=overall, guaranteed=point.guaranteed_risk)
    draw_shares(coverage, [(names[k], parts[k].coverage) for k in shown], overall=point.coverage)
    left = f", the {SHOWN} of highest risk of {len(order)}" if len(order) > SHOWN else ""
    risk.set_xlabel("Selective risk (%)")
    coverage.set_xlabel("Coverage (%)")
    title = f"{division.title}{left}, where {plain(point.score)} accepts {point.coverage:.1%}"
    risk.set_title(title, loc="left", fontsize=SIZE)
    once = ", each original sample counted once" if outputs.ids is not None else ""
    coverage.set_title(f"{100 * evaluation.level:g}% intervals, all together{once}", loc="right", fontsize=SIZE - 1)
    for axes in (risk, coverage):
        printed(axes)
        axes.legend(frameon=False, fontsize=SIZE - 1, loc="best")
    return figure


def _division(point: Point, by: str) -> Division:
    name = "true" if by == "class" else by
    division = next((each for each in divisions(point) if each.name == name), None)
    if division is None:
        raise CannotDrawError(f"the outputs have no {'labels' if by == 'class' else 'groups'}")
    if len(division.parts) < 2:
        raise CannotDrawError(f"there is only one {by}")
    return division


def _worst_first(part: Slice) -> tuple[float, str]:
    return (1.0 if part.risk is None else -part.risk.value, part.name)


def draw_shares(
    axes: Any,
    shares: Sequence[tuple[str, ShareEstimate | None]],
    /,
    *,
    overall: float | None,
    guaranteed: float | None = None,
) -> None:
    """A mark with its interval for each name on Matplotlib axes, in percent; a square if it breaks the guarantee."""
    for index, (_, share) in enumerate(shares):
        if share is None:
            axes.text(0, index, " nothing accepted", fontsize=SIZE - 1, va="center", color="#555555")
            continue
        breaks = guaranteed is not None and share.low > guaranteed
        sides = [[100 * max(share.value - share.low, 0.0)], [100 * max(share.high - share.value, 0.0)]]
        look = {"fmt": "s", "color": COLOURS[1]} if breaks else {"fmt": "o", "color": COLOURS[0]}
        axes.errorbar([100 * share.value], [index], xerr=sides, markersize=3.2, linewidth=0.9, capsize=1.5, **look)
    if overall is not None:
        axes.axvline(100 * overall, color=RULE, linewidth=0.9, linestyle="--", label="all rows")
    if guaranteed is not None:
        axes.axvline(100 * guaranteed, color="#000000", linewidth=0.9, linestyle=":", label="guaranteed for all rows")
    axes.set_yticks(range(len(shares)), [plain(name) for name, _ in shares])
    axes.set_ylim(len(shares) - 0.4, -0.6)
    axes.set_xlim(left=0)

"""Risk–coverage curves, with bands that count an original sample once, and the area that AURC-α is."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from abstain.evaluation import Evaluation
from abstain.evaluation.mixes import mix_among
from abstain.evaluation.summary import by_reason
from abstain.evaluation.verdict import BASELINE
from abstain.metrics import RiskCoverage, aurc, risk_coverage
from abstain.metrics.risk_coverage import evenly
from abstain.report.figures.style import (
    COLOURS,
    COLUMN,
    FOR_OOD,
    INK,
    LINES,
    MARKERS,
    PAGE,
    RULE,
    SELECTION,
    SIZE,
    first_rows,
    label_of,
    legend_below,
    new_figure,
    printed,
)

DRAWN = 2000  # points of a curve
MARKS = 5  # on a curve
SHOWN = 9  # more curves than that cannot be distinguished
CEILING = (
    2.0  # times the risk of accepting everything: the top of a panel, so that one bad score does not flatten all others
)
QUARTER = 25  # a panel begins at this or a multiple of it, the last before any curve leaves zero


def risk_coverage_figure(evaluation: Evaluation, /, *, scores: Sequence[str] | None = None) -> Any:
    """A Matplotlib figure with a panel for each mix; shaded are pointwise bands of the best score and of max_softmax.

    Without ``scores`` it shows well-known ones and the best of each family, and lists those it leaves out. As in the
    paper, scores made for selection are solid and those made for OOD detection dashed. Save it with
    ``figure.savefig("rc.pdf")``.
    """
    names, mixes = list(scores) if scores is not None else scores_to_draw(evaluation), evaluation.mixes
    width = min(PAGE, 2.4 * len(mixes) + 1.6)
    figure = new_figure(width, 2.5 + 0.15 * -(-len(names) // 3), "The risk–coverage figure")
    for axes, mix in zip(figure.subplots(1, len(mixes), squeeze=False)[0], mixes, strict=True):
        draw_risk_coverage(axes, evaluation, mix=mix, scores=names)
    for axes in figure.axes[1:]:
        axes.set_ylabel("")
    above = " Cut off above: curves of more than twice the risk at full coverage." if _cut(figure) else ""
    words = f"{_legend_words(evaluation, names)}{above}\n{left_out_words(evaluation, names)}"
    legend_below(figure, words, columns=3 if len(mixes) > 2 else 2)
    return figure


def scores_to_draw(evaluation: Evaluation, /) -> list[str]:
    """The scores everybody knows and the best of each family, from the best to the worst over all samples."""
    mix, alpha = evaluation.mixes[-1], max(evaluation.alphas)
    ranked = sorted(evaluation.scores, key=lambda score: evaluation.row(score, mix, alpha).aurc)
    best_of_family = {evaluation.entries[name].about.family: name for name in reversed(ranked)}
    known = {name for name in ranked if evaluation.entries[name].about.is_well_known}
    chosen = [name for name in ranked if name in known or name in best_of_family.values()]
    return chosen if len(ranked) > SHOWN else ranked


def left_out_words(evaluation: Evaluation, shown: Sequence[str], /) -> str:
    """Which scores a figure leaves out, and why; nothing where it has all of them."""
    others = [name for name in evaluation.scores if name not in shown]
    words = []
    if others:
        known = f"Not drawn, as neither well known nor the best of their family: {', '.join(others)}."
        words.append(known if len(others) <= 12 else f"Not drawn: {len(others)} scores that rank below the best of "
                     "their family and are not well known; the table has them.")  # fmt: skip
    words += [f"Not computed: {', '.join(names)}, as {reason}." for names, reason in by_reason(evaluation.left_out)]
    return " ".join(words)


def _legend_words(evaluation: Evaluation, names: Sequence[str]) -> str:
    dashed = any(evaluation.entries[name].about.for_ood for name in names)
    lines = f"{LINES} " if dashed else ""
    once = ", each original sample counted once" if evaluation.outputs.ids is not None else ""
    both = f" and {BASELINE}" if BASELINE in names else ""
    return f"{lines}Shaded: pointwise {100 * evaluation.level:g}% band of the best{both}{once}."


def draw_risk_coverage(
    axes: Any,
    evaluation: Evaluation,
    /,
    *,
    mix: str | None = None,
    scores: Sequence[str] | None = None,
    bands: Sequence[str] | None = None,
) -> None:
    """Draw the curves of one mix, by default the widest, on Matplotlib axes, with ``bands`` for the best and the usual.

    A score has the same colour, line and marker in every panel that is drawn of the same scores.
    """
    mix, names = mix or evaluation.mixes[-1], list(scores or scores_to_draw(evaluation))
    best = min(names, key=lambda name: evaluation.row(name, mix, max(evaluation.alphas)).aurc)
    n = evaluation.best(mix, evaluation.alphas[0]).n
    first, highest, full, clean = first_rows(n) / n, 0.0, 0.0, []
    for number, name in enumerate(names):
        curve = evaluation.curve(name, mix)
        points = np.flatnonzero(curve.coverage >= first)
        if not points.size:
            continue
        points = points[evenly(len(points), DRAWN)]
        highest, full = max(highest, 100 * float(curve.risk[points].max())), 100 * float(curve.risk[-1])
        clean.append(100 * float(curve.coverage[points][np.argmax(curve.risk[points] > 0)]) if highest else 0.0)
        _draw_curve(axes, evaluation, name, curve, points, position=(number, len(names)))
    top = min(1.1 * highest, CEILING * full) or 1
    for name in names:
        if name in ((best, BASELINE) if bands is None else bands):
            _draw_band(axes, evaluation, name, mix, first, top, COLOURS[names.index(name) % len(COLOURS)])
    axes.set_title(f"{mix_among(mix, evaluation.mixes).title} (n = {n:,})")
    left = min(clean, default=0.0) // QUARTER * QUARTER
    axes.set(xlabel="Coverage (%)", ylabel="Selective risk (%)", xlim=(left, 100), ylim=(0, top))
    axes.set_xticks(np.arange(left, 101, QUARTER))
    printed(axes)


def _cut(figure: Any) -> bool:
    """Whether a curve leaves its panel."""
    return any(line.get_ydata().max() > axes.get_ylim()[1] for axes in figure.axes for line in axes.get_lines())


def _draw_curve(
    axes: Any, evaluation: Evaluation, name: str, curve: RiskCoverage, points: Any, *, position: tuple[int, int]
) -> None:
    number, count = position
    coverage = 100 * curve.coverage[points]
    marks = (np.arange(MARKS) + (number + 0.5) / count) * 100 / MARKS  # no two curves have theirs at one coverage
    entry = evaluation.entries[name]
    axes.plot(
        coverage,
        100 * curve.risk[points],
        color=COLOURS[number % len(COLOURS)],
        linestyle=FOR_OOD if entry.about.for_ood else SELECTION,
        linewidth=1.0,
        marker=MARKERS[number % len(MARKERS)],
        markersize=4.2,
        markeredgecolor="white",
        markeredgewidth=0.4,
        markevery=np.unique(np.searchsorted(coverage, marks[marks > coverage[0]]).clip(0, len(coverage) - 1)).tolist(),
        label=label_of(entry),
    )


def _draw_band(axes: Any, evaluation: Evaluation, name: str, mix: str, first: float, top: float, colour: str) -> None:
    """Light, outlined, below the curves, from where it fits the panel: of few rows it would be a block.

    It begins at the first error: before that it depends on the number of rows alone, the same for every score.
    """
    band = evaluation.band(name, mix)
    shown = (band.coverage >= first) & (np.cumsum(band.risk) > 0)
    if not shown.any():
        return
    x, low, high = (100 * each[shown] for each in (band.coverage, band.low, band.high))
    start = int(np.argmax(high <= top))  # the first row where none fits
    x, low, high = x[start:], low[start:], high[start:]
    axes.fill_between(x, low, high, facecolor=(colour, 0.1), edgecolor=(colour, 0.45), linewidth=0.5, zorder=1)


def area_figure(confidence: ArrayLike, losses: ArrayLike, /, *, alpha: float = 0.5) -> Any:
    """A Matplotlib figure of the curve, with the area that AURC-α is made of in blue, and its value next to it.

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted.
    losses : (n,) array
        Errors, or losses from 0 to 1.
    alpha : float
        The largest coverage that counts.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = new_figure(COLUMN, 2.3, "The figure of AURC-α")
    axes = figure.subplots()
    curve = risk_coverage(confidence, losses)
    coverage = np.concatenate([[0.0], curve.coverage])
    risk = np.concatenate([curve.risk[:1], curve.risk])
    inside = np.append(coverage[coverage < alpha], alpha)
    under = np.append(risk[coverage < alpha], np.interp(alpha, coverage, risk))
    value = aurc(confidence, losses, alpha=alpha)
    axes.fill_between(100 * inside, 100 * under, color=COLOURS[0], alpha=0.3, linewidth=0, label="area")
    axes.plot(100 * coverage, 100 * risk, color=COLOURS[0], linewidth=1.2)
    axes.axvline(100 * alpha, color=RULE, linewidth=0.8, linestyle="--")
    axes.plot([0, 100 * alpha], [100 * value] * 2, color=INK, linewidth=0.8, linestyle=":")
    note = f"AURC-{alpha:g} =\narea / {alpha:g} = {100 * value:.2f}%"
    axes.annotate(note, (100 * alpha, 100 * value), xytext=(4, -4), textcoords="offset points", fontsize=SIZE)
    axes.annotate(rf"$\alpha$ = {alpha:g}", (100 * alpha, 1), xycoords=("data", "axes fraction"), ha="center",
                  va="bottom", fontsize=SIZE)  # fmt: skip
    axes.set(xlabel="Coverage (%)", ylabel="Selective risk (%)", xlim=(0, 100))
    axes.set_ylim(0, 1.1 * 100 * float(risk.max()) or 1)
    printed(axes)
    return figure

"""Figures 4, 5, 6 and 9: risk–coverage curves of runs, a row for each model and a panel for each mix."""

from collections.abc import Sequence
from typing import Any

from abstain.report.figures.style import (
    COLOURS,
    LINES,
    MARKERS,
    PAGE,
    SELECTION,
    legend_below,
    new_figure,
    printed,
    symbol_text,
)
from abstain.report.figures.style import FOR_OOD as DASHED
from abstain_reproduction.paper.paper_latex import HEADS
from abstain_reproduction.paper.paper_table import HEAD, ROWS, symbol_of
from abstain_reproduction.paper.run_record import RunRecord
from abstain_reproduction.paper.score_claims import FOR_OOD, MARGINS, SOFTMAX

OMITTED = "doctor"  # as in the paper: it almost overlaps with SR_max
SCNET_SCORES = (HEAD, *MARGINS, *(score for score in SOFTMAX if score != OMITTED))
"""What Fig. 6 compares: the selection head with margins and softmax scores."""
SCNET_MIXES = ("in", "all", "in+cov")
"""The panels of Fig. 6, and covariate shift alone, which its caption speaks of."""
LOOKS = {score: look for look, score in enumerate(score for score in ROWS if score not in (OMITTED, HEAD))}
LOOKS[HEAD] = LOOKS["vim"]  # no figure has both
CEILING = 2.0  # times the risk at full coverage
MARKS = 5


def curves_figure(runs: Sequence[RunRecord], /, *, mixes: Sequence[str], scores: Sequence[str] = ROWS) -> Any:
    """Runs below each other; a mix that a run has no rows of leaves its panel out."""
    figure = new_figure(PAGE, 1.7 * len(runs) + 1.0, "The figures of the paper")
    panels = figure.subplots(len(runs), len(mixes), squeeze=False)
    for run, row in zip(runs, panels, strict=True):
        for mix, axes in zip(mixes, row, strict=True):
            if not _draw(axes, run, mix, [score for score in scores if score != OMITTED]):
                axes.remove()
                continue
            axes.set_title(f"{run.task} - {run.model}\n{HEADS[mix]}")
            axes.set_xlabel("Coverage (%)")
            printed(axes)
        row[0].set_ylabel("Selective risk (%)", fontsize=8)
    legend_below(figure, LINES, columns=5)
    return figure


def _draw(axes: Any, run: RunRecord, mix: str, scores: Sequence[str]) -> bool:
    """Whether there was a curve to draw."""
    curves = {curve.score: curve for curve in run.curves if curve.mix == mix}
    shown = [score for score in scores if score in curves]
    for score in shown:
        curve, look = curves[score], LOOKS[score]
        axes.plot(
            [100 * value for value in curve.coverage],
            [100 * value for value in curve.risk],
            color=COLOURS[look % len(COLOURS)],
            linestyle=DASHED if score in FOR_OOD else SELECTION,
            linewidth=1.0,
            marker=MARKERS[look % len(MARKERS)],
            markevery=(look, max(1, len(curve.coverage) // MARKS)),
            markersize=3.5,
            label=symbol_text(symbol_of(score)),
        )
    if shown:
        full = max(100 * curves[score].risk[-1] for score in shown)
        highest = max(100 * max(curves[score].risk) for score in shown)
        axes.set(xlim=(0, 100), ylim=(0, min(1.1 * highest, CEILING * full) or 1))
    return bool(shown)

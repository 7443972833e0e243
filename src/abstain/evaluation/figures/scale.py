"""The scale-sensitivity diagnostic as a figure."""

from typing import Any

from abstain.evaluation.sensitivity import SOFTMAX_SCORES, ScaleSensitivity
from abstain.report.figures.style import COLOURS, COLUMN, SIZE, label_of, new_figure, printed, tidy
from abstain.scores.logit_scores import ConfidenceMargin

STYLES = ("-", "-.", (0, (6, 1)))  # distinct without colour


def scale_figure(sensitivity: ScaleSensitivity, /) -> Any:
    """AURC by the scale of the logits: a curve for each softmax score, its limits as ticks, the margin flat."""
    figure = new_figure(COLUMN, 2.5, "The scale figure")
    axes = figure.subplots()
    draw_scale(axes, sensitivity)
    printed(axes)
    axes.legend(frameon=False, fontsize=SIZE - 1)
    return figure


def draw_scale(axes: Any, sensitivity: ScaleSensitivity, /) -> None:
    """Draw the curves on Matplotlib axes."""
    for score, colour, style in zip(SOFTMAX_SCORES, COLOURS, STYLES, strict=False):
        scales, areas = sensitivity.curve(score.name)
        label = label_of(score)
        axes.plot(scales, [100 * area for area in areas], color=colour, linestyle=style, linewidth=1.5, label=label)
        low, _ = sensitivity.limits(score.name)
        axes.plot([scales[0] / 1.6], [100 * low], marker="<", markersize=4, color=colour, clip_on=False)
    label = f"{label_of(ConfidenceMargin())}, any scale"
    axes.axhline(100 * sensitivity.margin, color="#333333", linewidth=1.2, linestyle="--", label=label)
    axes.axvline(1.0, color="#999999", linewidth=0.8, linestyle=":")
    axes.text(1.0, 1.01, "as trained", transform=axes.get_xaxis_transform(), fontsize=7, ha="center", color="#666666")
    axes.set_xscale("log")
    axes.set_xlabel("Scale λ of the logits (◂ limit λ → 0)")
    axes.set_ylabel(f"AURC{'' if sensitivity.alpha == 1 else f'-{sensitivity.alpha:g}'} × 100")
    tidy(axes)
    axes.legend(frameon=False, fontsize=8)

"""What AURC-α is: the area under a risk–coverage curve up to the coverage α, divided by α."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from abstain.metrics import aurc, risk_coverage
from abstain.report.figures.style import COLOURS, COLUMN, INK, RULE, SIZE, new_figure, printed


def area_figure(confidence: ArrayLike, losses: ArrayLike, /, *, alpha: float = 0.5) -> Any:
    """A Matplotlib figure of the curve, with the area that AURC-α is made of in blue.

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
    draw_area(figure.subplots(), confidence, losses, alpha=alpha)
    return figure


def draw_area(axes: Any, confidence: ArrayLike, losses: ArrayLike, /, *, alpha: float = 0.5) -> None:
    """The same on given axes; the value written beside it is that of `abstain.metrics.aurc`."""
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

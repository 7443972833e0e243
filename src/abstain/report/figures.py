"""Risk–coverage curves, fit to print."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.evaluation import Evaluation
from abstain.extras import require

Floats = NDArray[np.float64]
FIRST_SAMPLES = 50  # before that a curve is noise
DRAWN = 5000  # points of a curve
SHOWN = 9  # more curves than that cannot be told apart
ANCHORS = ("max_softmax", "energy", "confidence_margin", "geometric_margin")
COLOURS = (  # safe for colour-blind eyes
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#e69f00",
    "#7a5195",
    "#555555",
    "#a6761d",
)
STYLES = {"softmax": "--", "logit": ":", "margin": "-", "feature": "-.", "hybrid": (0, (3, 1, 1, 1, 1, 1))}
OTHER_STYLE = (0, (5, 1))


def risk_coverage_figure(
    evaluation: Evaluation, /, *, scores: Sequence[str] | None = None, for_ood: Collection[str] | None = None
) -> Any:
    """A Matplotlib figure with a panel for each mix, and a pointwise 95% band for the best score of each.

    The band is Clopper and Pearson's, which takes the rows for independent. Without ``scores`` it shows well-known ones
    and the best of each family. Lines show the family; or, as in the paper, scores made ``for_ood``
    detection are dashed and the others solid. Save it with ``figure.savefig("rc.pdf")``.
    """
    require("matplotlib", extra="report", feature="The risk–coverage figure")
    from matplotlib.figure import Figure

    mixes = evaluation.mixes
    names = list(scores) if scores is not None else _telling_scores(evaluation)
    figure = Figure(figsize=(2.9 * len(mixes) + 1.7, 3.1), layout="constrained", dpi=200)
    for axes, mix in zip(figure.subplots(1, len(mixes), squeeze=False)[0], mixes, strict=True):
        draw_risk_coverage(axes, evaluation, mix=mix, scores=names, for_ood=for_ood)
    for axes in figure.axes[1:]:
        axes.set_ylabel("")
    explained = "" if for_ood is None else "\nsolid: made for selection\ndashed: made for OOD detection"
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(),
        loc="outside right center",
        frameon=False,
        fontsize=8,
        title=f"{len(names)} of {len(evaluation.scores)} scores\nshaded: 95% band of the best" + explained,
        title_fontsize=7,
        alignment="left",
    )
    return figure


def _telling_scores(evaluation: Evaluation) -> list[str]:
    """The scores everybody knows and the best of each family, from the best to the worst over all samples."""
    mix, alpha = evaluation.mixes[-1], max(evaluation.alphas)
    ranked = sorted(evaluation.scores, key=lambda score: evaluation.row(score, mix, alpha)["aurc"])
    best_of_family = {evaluation.entries[name].about.family: name for name in reversed(ranked)}
    chosen = [name for name in ranked if name in ANCHORS or name in best_of_family.values()]
    return chosen if len(ranked) > SHOWN else ranked


def draw_risk_coverage(
    axes: Any,
    evaluation: Evaluation,
    /,
    *,
    mix: str | None = None,
    scores: Sequence[str] | None = None,
    for_ood: Collection[str] | None = None,
) -> None:
    """Draw the curves of one mix, by default the widest, on Matplotlib axes, with a band for the best of them."""
    mix, names = mix or evaluation.mixes[-1], list(scores or _telling_scores(evaluation))
    best = min(names, key=lambda name: evaluation.row(name, mix, max(evaluation.alphas))["aurc"])
    n = evaluation.best(mix, evaluation.alphas[0])["n"]
    highest = 0.0
    for name, colour in zip(names, COLOURS * len(names), strict=False):
        curve = evaluation.curve(name, mix)
        shown = _some(np.flatnonzero(curve.coverage * n >= min(max(FIRST_SAMPLES, n / 1000), n / 2)))
        if not shown.size:
            continue
        coverage, risk = 100 * curve.coverage[shown], curve.risk[shown]
        highest = max(highest, 100 * float(risk.max()))
        family = STYLES.get(evaluation.entries[name].about.family, OTHER_STYLE)
        style = family if for_ood is None else "--" if name in for_ood else "-"
        axes.plot(coverage, 100 * risk, color=colour, linestyle=style, linewidth=1.4, label=_label(evaluation, name))
        if name == best:
            low, high = _band(np.rint(curve.coverage[shown] * n), risk)
            axes.fill_between(coverage, 100 * low, 100 * high, color=colour, alpha=0.12, linewidth=0)
    axes.set_title(f"{evaluation.mix(mix).title} (n = {n:,})", fontsize=9)
    axes.set_xlabel("Coverage (%)")
    axes.set_ylabel("Selective risk (%)")
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 1.1 * highest or 1)
    tidy(axes)


def _some(points: NDArray[np.int64]) -> NDArray[np.int64]:
    """Evenly spaced ones of many, the last included: a million points make a file that no viewer opens."""
    if len(points) <= DRAWN:
        return points
    return points[np.linspace(0, len(points) - 1, DRAWN).astype(np.int64)]


def _band(accepted: Floats, risk: Floats) -> tuple[Floats, Floats]:
    """Clopper and Pearson's pointwise 95% interval of the risk among the accepted."""
    from scipy.special import betaincinv

    errors = np.rint(risk * accepted)
    low = np.where(errors > 0, betaincinv(np.maximum(errors, 1), accepted - errors + 1, 0.025), 0.0)
    high = np.where(errors < accepted, betaincinv(errors + 1, np.maximum(accepted - errors, 1), 0.975), 1.0)
    return low, high


def _label(evaluation: Evaluation, name: str) -> str:
    """The name people type, and the symbol of the literature where it is another."""
    symbol = evaluation.entries[name].symbol
    return name if symbol == name else f"{name} ({symbol})"


def tidy(axes: Any, /) -> None:
    """The look of every figure: light grid, no box."""
    axes.tick_params(labelsize=8)
    axes.grid(color="#e5e5e5", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)

"""Fig. 7: how two scores spread over right, wrong and unknown samples, and their curves, with cuts by TPR."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.evaluation.figures.histogram import draw_histogram, draw_kind
from abstain.metrics import risk_coverage
from abstain.report.figures.style import COLOURS, label_of, new_figure, tidy
from abstain.scores import SCORES
from abstain_reproduction.ood.contest import CUTS, Contest
from abstain_reproduction.ood.illustration import GRID, UNKNOWN, WRONG, NormalScore
from abstain_reproduction.ood.search import ContestResult

Floats = NDArray[np.float64]
LOW = 0.02  # risk with no room for a label below


def contest_figure(made: dict[str, NormalScore], result: ContestResult, /) -> Any:
    """The paper's example as a population above, the real one below."""
    figure = new_figure(11.4, 6.0, "The figure of OOD metrics", dpi=180)
    top, bottom = figure.subplots(2, 3)
    for axes, (role, score) in zip(top, made.items(), strict=False):
        draw_densities(axes, score)
        axes.set_title(f"{'s₁: selection' if role == 'selection' else 's₂: detection'}, the paper's AUROC")
    draw_population_curves(top[2], made)
    _draw_contest(bottom, result.measured, result.network)
    return _label_panels(figure, (top, bottom))


def contest_panels(contest: Contest, network: str, /) -> Any:
    """Fig. 7: both scores' samples, and their curves."""
    figure = new_figure(11.4, 3.2, "The figure of OOD metrics", dpi=180)
    row = figure.subplots(1, 3)
    _draw_contest(row, contest, network)
    return _label_panels(figure, (row,))


def _draw_contest(row: Any, contest: Contest, network: str) -> None:
    for axes, name in zip(row, (contest.selection, contest.detector), strict=False):
        draw_histograms(axes, contest, name)
        axes.set_title(f"{label_of(SCORES[name])}, {network}")
    draw_contest_curves(row[2], contest)


def _label_panels(figure: Any, rows: Sequence[Any]) -> Any:
    for letter, axes in zip("abcdef", figure.axes, strict=False):
        axes.set_title(f"({letter}) {axes.get_title()}", fontsize=9, pad=12)
    for row in rows:
        row[0].legend(frameon=False, fontsize=8)
        row[2].legend(frameon=False, fontsize=8)
    return figure


def draw_densities(axes: Any, score: NormalScore, /) -> None:
    """Densities of right, wrong and unknown samples, each with its share."""
    shares = {"right": (1 - UNKNOWN) * (1 - WRONG), "wrong": (1 - UNKNOWN) * WRONG, "unknown class": UNKNOWN}
    for kind, share in shares.items():
        density = np.exp(-np.square(GRID - getattr(score, kind.partition(" ")[0])) / 2) / np.sqrt(2 * np.pi)
        draw_kind(axes, GRID, share * density, kind)
    axes.set_xlim(-3.5, 6.5)
    _cuts(axes, [score.threshold(cut) for cut in CUTS])
    _style_axes(axes)


def draw_histograms(axes: Any, contest: Contest, name: str, /) -> None:
    """Shares of right, wrong and unknown samples over the score."""
    c, unknown = contest.confidence[name], contest.unknown
    draw_histogram(axes, c, contest.outputs.errors, unknown=unknown)
    _cuts(axes, list(np.quantile(c[~unknown], 1 - np.array(CUTS))))
    _style_axes(axes)
    axes.set_ylabel("Samples (%)")


def _cuts(axes: Any, thresholds: list[float]) -> None:
    for cut, threshold in zip(CUTS, thresholds, strict=True):
        axes.axvline(threshold, color="#555555", linewidth=0.8, linestyle=":")
        axes.text(
            threshold, 1.0, f"{cut:g}", transform=axes.get_xaxis_transform(), fontsize=6, ha="center", va="bottom"
        )


def _style_axes(axes: Any) -> None:
    axes.set_xlabel("Score (dotted: TPR cut-offs)")
    axes.set_ylabel("Density")
    axes.set_ylim(bottom=0)
    tidy(axes)


def draw_population_curves(axes: Any, made: dict[str, NormalScore], /) -> None:
    """Curves of both scores, with points at the cuts."""
    for (role, score), colour, style in zip(made.items(), (COLOURS[3], COLOURS[7]), ("-", "--"), strict=True):
        shown = score.coverage > 1e-3
        label = "s₁" if role == "selection" else "s₂"
        axes.plot(
            100 * score.coverage[shown],
            100 * score.risk[shown],
            color=colour,
            linestyle=style,
            linewidth=1.5,
            label=label,
        )
        coverages = np.interp([score.threshold(cut) for cut in CUTS], GRID, score.coverage)
        risks = [score.risk_at_tpr(cut) for cut in CUTS]
        _points(axes, coverages, risks, colour, above=role != "selection")
    _style_curves(axes)


def draw_contest_curves(axes: Any, contest: Contest, /) -> None:
    """The same on real samples."""
    names, colours = (contest.selection, contest.detector), (COLOURS[3], COLOURS[7])
    for name, colour, style in zip(names, colours, ("-", "--"), strict=True):
        curve = risk_coverage(contest.confidence[name], contest.outputs.errors)
        shown = curve.coverage * len(contest.outputs) >= 20
        coverage, risk, label = 100 * curve.coverage[shown], 100 * curve.risk[shown], label_of(SCORES[name])
        axes.plot(coverage, risk, color=colour, linestyle=style, linewidth=1.5, label=label)
        coverages = contest.coverages(name)
        risks = np.interp(coverages, curve.coverage, curve.risk)
        _points(axes, coverages, risks, colour, above=name != contest.selection)
    _style_curves(axes)


def _points(axes: Any, coverage: Any, risk: Any, colour: str, *, above: bool) -> None:
    """Points at the cuts, with labels on the side where the other curve is not, and never below the axis."""
    axes.plot(100 * np.asarray(coverage), 100 * np.asarray(risk), "o", color=colour, markersize=3.5)
    paper = {"boxstyle": "square,pad=0.1", "facecolor": "white", "alpha": 0.85, "linewidth": 0}
    for cut, x, y in zip(CUTS, coverage, risk, strict=True):
        up = above or y < LOW
        look = {"xytext": (-2, 5), "ha": "center"} if up else {"xytext": (4, -4), "ha": "left", "va": "top"}
        point = (100 * x, 100 * y)
        axes.annotate(f"{cut:g}", point, textcoords="offset points", fontsize=6, bbox=paper, zorder=4, **look)


def _style_curves(axes: Any) -> None:
    axes.set(xlim=(0, 100), xlabel="Coverage (%), points at TPR cut-offs", ylabel="Selective risk (%)")
    axes.set_ylim(bottom=0)
    axes.set_title("risk–coverage")
    tidy(axes)

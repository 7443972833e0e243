"""Which score is significantly better than which."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from abstain.evaluation import Evaluation
from abstain.evaluation.figures.risk_coverage import scores_to_draw
from abstain.evaluation.mixes import mix_among
from abstain.metrics import ScoreDifference
from abstain.metrics.aurc import area_name
from abstain.metrics.compare import compare_all
from abstain.report.figures.style import PAGE, SIZE, CannotDrawError, label_of, new_figure, printed

BETTER, WORSE, ALIKE = "#2a6fa8", "#f6c48a", "#ffffff"
"""Dark, light and white, so that they differ in grey too."""


def significance_figure(
    evaluation: Evaluation,
    /,
    *,
    scores: Sequence[str] | None = None,
    mix: str | None = None,
    alpha: float | None = None,
) -> Any:
    """Every pair of scores on a mix, by default the widest: the paired difference of AURC-α × 100."""
    names = list(scores) if scores is not None else scores_to_draw(evaluation)
    if len(names) < 2:
        raise CannotDrawError("there is only one score")
    mix, alpha = mix or evaluation.mixes[-1], max(evaluation.alphas) if alpha is None else alpha
    confidences = {name: evaluation.ranked_rows(name, mix)[0] for name in names}
    _, outcomes, clusters = evaluation.ranked_rows(names[0], mix)
    comparisons = compare_all(confidences, outcomes, alpha=alpha, ids=clusters, level=evaluation.level)
    figure = new_figure(PAGE, 1.3 + 0.3 * len(names), "The figure of differences")
    axes = figure.subplots()
    draw_significance(axes, comparisons, names)
    axes.set_yticks(range(len(names)), [label_of(evaluation.entries[name]) for name in names])
    title = f"{area_name(alpha)} × 100 of the row less that of the column, {mix_among(mix, evaluation.mixes).words}"
    axes.set_title(title, loc="left", fontsize=SIZE + 1)
    words = f"dark: significantly better, light: worse, white: not significant (paired {100 * evaluation.level:g}% "
    axes.set_xlabel(f"{words}intervals, each pair for itself)")
    axes.xaxis.label.set_fontsize(SIZE)
    return figure


def draw_significance(
    axes: Any, comparisons: Mapping[tuple[str, str], ScoreDifference], names: Sequence[str], /
) -> None:
    """Draw the matrix on Matplotlib axes: (a, b) is in row a and column b, and in row b with the other sign."""
    from matplotlib.colors import ListedColormap

    size = len(names)
    colours, difference = np.ones((size, size), dtype=int), np.zeros((size, size))
    for (a, b), comparison in comparisons.items():
        for i, j, sign in ((names.index(a), names.index(b), 1), (names.index(b), names.index(a), -1)):
            difference[i, j] = sign * comparison.difference
            colours[i, j] = 1 + (int(np.sign(difference[i, j])) if comparison.is_significant else 0)
    axes.imshow(colours, cmap=ListedColormap([BETTER, ALIKE, WORSE]), vmin=0, vmax=2, aspect="auto")
    for i, j in np.argwhere(~np.eye(size, dtype=bool)):
        text = f"{100 * difference[i, j]:+.2f}".replace("-", "−")
        ink, weight = ("white" if colours[i, j] == 0 else "black"), ("normal" if colours[i, j] == 1 else "bold")
        axes.text(j, i, text, ha="center", va="center", fontsize=SIZE - 1, color=ink, fontweight=weight)
    axes.set_xticks(range(size), [name.partition("(")[0] for name in names], rotation=35, ha="right")
    axes.set_yticks(range(size), list(names))
    axes.set_xticks(np.arange(size + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(size + 1) - 0.5, minor=True)
    printed(axes)
    axes.grid(visible=False)
    axes.grid(which="minor", color="#bbbbbb", linewidth=0.5)
    axes.tick_params(which="both", length=0)

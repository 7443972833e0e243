"""Two models after rejection, fit to print: their risk–coverage curves, and the difference with its band."""

from typing import Any

import numpy as np

from abstain.evaluation.mixes import MIXES
from abstain.evaluation.runs import RunComparison
from abstain.extras import require
from abstain.report.figures import COLOURS, FIRST_SAMPLES, tidy

POINTS = 60  # of a curve
STYLES = ("-", "--")


def comparison_figure(comparison: RunComparison, /) -> Any:
    """A column for each mix: the two curves above, the difference of their risks at the same coverage below.

    The band is pointwise, paired, and counts a cluster once. Save it with ``figure.savefig("compare.pdf")``.
    """
    require("matplotlib", extra="report", feature="The figure of two models")
    from matplotlib.figure import Figure

    mixes = comparison.mixes
    figure = Figure(figsize=(3.2 * len(mixes) + 1.4, 4.6), layout="constrained", dpi=200)
    panels = figure.subplots(2, len(mixes), squeeze=False, sharex=True, height_ratios=(3, 2))
    for column, mix in enumerate(mixes):
        draw_comparison(panels[0][column], panels[1][column], comparison, mix=mix.mix)
    for axes in (*panels[0][1:], *panels[1][1:]):
        axes.set_ylabel("")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False, fontsize=8)
    return figure


def draw_comparison(above: Any, below: Any, comparison: RunComparison, /, *, mix: str | None = None) -> None:
    """Draw the curves of a mix, by default the widest, on one pair of Matplotlib axes, and their difference below."""
    found = comparison.mix(mix)
    models, n = comparison.models[found.mix], found.n
    coverages = np.linspace(min(max(FIRST_SAMPLES, n / 1000), n / 2) / n, 1.0, POINTS)
    pairs = [models.risk(coverage=float(coverage)) for coverage in coverages]
    shares = 100 * coverages
    for values, name, score, colour, style in zip(
        ([pair.a for pair in pairs], [pair.b for pair in pairs]),
        comparison.names,
        comparison.scores,
        COLOURS,
        STYLES,
        strict=False,
    ):
        label = as_text(f"{name} ({score})")
        above.plot(shares, 100 * np.array(values), color=colour, linestyle=style, linewidth=1.5, label=label)
    low, high = (100 * np.array([getattr(pair, end) for pair in pairs]) for end in ("low", "high"))
    below.fill_between(shares, low, high, color="#888888", alpha=0.25, linewidth=0)
    below.plot(shares, [100 * pair.difference for pair in pairs], color="#333333", linewidth=1.3)
    below.axhline(0, color="#888888", linewidth=0.8)
    above.set_title(f"{MIXES[found.mix].title} (n = {n:,})", fontsize=9)
    above.set_ylabel("Selective risk (%)")
    above.set_ylim(bottom=0)
    below.set_ylabel(f"Difference (points),\n{100 * comparison.level:g}% band", fontsize=8)
    below.set_xlabel("Coverage (%)")
    below.set_xlim(0, 100)
    for axes in (above, below):
        tidy(axes)


def as_text(words: str, /) -> str:
    """Words that Matplotlib shows as they are: no formula, one line, not too long."""
    plain = " ".join(words.split()).replace("$", r"\$")
    plain = plain if len(plain) <= 60 else f"{plain[:59]}…"
    return f" {plain}" if plain.startswith("_") else plain

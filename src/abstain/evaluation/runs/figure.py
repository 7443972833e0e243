"""Two models after rejection, fit to print: their risk–coverage curves, and the difference with its band."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from abstain._names import check_name
from abstain.evaluation.mixes import mix_among
from abstain.evaluation.runs import RunComparison
from abstain.report.figures.style import COLOURS, INK, PAGE, RULE, SIZE, first_rows, new_figure, plain, printed

POINTS = 60  # of a curve
NAMED = 14  # characters of two names that one line has room for
STYLES = ("-", "--")


def comparison_figure(comparison: RunComparison, /, *, mixes: Sequence[str] | None = None) -> Any:
    """A column for each mix: the two curves above, the first less the second at the same coverage below.

    The band is pointwise, paired, and counts a cluster once. Save it with ``figure.savefig("compare.pdf")``.
    """
    known = [mix.mix for mix in comparison.mixes]
    for mix in mixes or ():
        check_name("mixes", mix, known, rule=f"be among {', '.join(known)}")
    names = list(mixes or known)
    width = PAGE * min(1.0, 0.3 * len(names) + 0.25)
    figure = new_figure(width, 3.6, "The figure of two models")
    panels = figure.subplots(2, len(names), squeeze=False, sharex=True, height_ratios=(3, 2))
    for above, below, mix in zip(*panels, names, strict=True):
        draw_comparison(above, below, comparison, mix=mix)
    for axes in (*panels[0][1:], *panels[1][1:]):
        axes.set_ylabel("")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False, fontsize=SIZE)
    return figure


def draw_comparison(above: Any, below: Any, comparison: RunComparison, /, *, mix: str | None = None) -> None:
    """Draw the curves of a mix, by default the widest, on one pair of Matplotlib axes, and their difference below."""
    on_mix = comparison.mix(mix)
    models, n = comparison.models[on_mix.mix], on_mix.n
    coverages = np.linspace(first_rows(n) / n, 1.0, POINTS)
    pairs = [models.risk(coverage=float(coverage)) for coverage in coverages]
    shares = 100 * coverages
    curves = [pair.a for pair in pairs], [pair.b for pair in pairs]
    for index, values in enumerate(curves):
        label = f"{plain(comparison.names[index])} ({plain(comparison.scores[index])})"
        style = {"color": COLOURS[index], "linestyle": STYLES[index], "linewidth": 1.3, "label": label}
        above.plot(shares, 100 * np.array(values), **style)
    low, high = (-100 * np.array([getattr(pair, end) for pair in pairs]) for end in ("high", "low"))
    below.fill_between(shares, low, high, color=RULE, alpha=0.25, linewidth=0)
    below.plot(shares, [-100 * pair.difference for pair in pairs], color=INK, linewidth=1.1)
    below.axhline(0, color=RULE, linewidth=0.8)
    above.set_title(f"{mix_among(on_mix.mix, [each.mix for each in comparison.mixes]).title}\n(n = {n:,})")
    above.set_ylabel("Selective risk (%)")
    above.set_ylim(bottom=0)
    a, b = map(plain, comparison.names)
    apart = f"{b} − {a}" if len(a) + len(b) <= NAMED else "Second − first"  # of the legend
    below.set_ylabel(f"{apart}\n(points), {100 * comparison.level:g}% band")
    below.set_xlabel("Coverage (%)")
    below.set_xlim(0, 100)
    for axes in (above, below):
        printed(axes)

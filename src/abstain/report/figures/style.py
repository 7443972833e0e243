"""The look of every figure: readable without colour, fit to print, with one naming of scores."""

import re
import textwrap
from typing import Any

from abstain._errors import InvalidInputError
from abstain._extras import require
from abstain.scores.score import Score

COLUMN, PAGE = 3.3, 6.8  # inches, of a paper in two columns
DPI = 200
SIZE = 7  # points: what a paper has below its figures
LONGEST = 32  # characters of a name
FIRST_SAMPLES = 50  # before that a curve is noise
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
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "p")
INK, RULE, GRID = "#222222", "#888888", "#e5e5e5"
SELECTION, FOR_OOD = "-", (0, (4, 1.4))
"""Lines of scores made for selection, and of those made to detect what is out of distribution, as in the paper."""
LINES = "Solid: made for selection; dashed: made for OOD detection."


class CannotDrawError(InvalidInputError):
    """The data do not allow a figure; the message is the reason and follows "left out, as"."""


def first_rows(n: int, /) -> float:
    """How many of n rows a curve begins at.

    >>> first_rows(10_000), first_rows(60)
    (50, 30.0)
    """
    return min(max(FIRST_SAMPLES, n / 1000), n / 2)


def tidy(axes: Any, /) -> None:
    """Light grid, no box."""
    axes.tick_params(labelsize=8)
    axes.grid(color=GRID, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def printed(axes: Any, /) -> None:
    """The same with text of the size of print."""
    tidy(axes)
    axes.tick_params(labelsize=SIZE, length=2.5)
    axes.set_axisbelow(True)
    for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
        text.set_fontsize(SIZE + 1)


def label_of(score: Score, /) -> str:
    """The name people type and the symbol next to it, its index as a subscript."""
    if score.symbol == score.name:
        return plain(score.name)
    return f"{plain(score.name)} ({symbol_text(score.symbol)})"


def symbol_text(symbol: str, /) -> str:
    r"""A symbol with its index set low.

    >>> symbol_text("SR_max"), symbol_text("SIRC")
    ('SR$_{\\text{max}}$', 'SIRC')
    """
    base, _, index = symbol.partition("_")
    is_index = re.fullmatch(r"[\w+()-]+", index) is not None
    return rf"{plain(base)}$_{{\text{{{index}}}}}$" if is_index else plain(symbol)


def plain(text: str, /) -> str:
    r"""Text of others as it is: no formula in it, on one line, not too long, and never hidden from a legend.

    >>> plain("_$x$\nand more of it than a figure has room for")
    ' _\\$x\\$ and more of it than a figu…'
    """
    line = " ".join(text.split())
    short = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
    return (" " if short.startswith("_") else "") + short.replace("$", r"\$")


def legend_below(figure: Any, words: str, /, *, columns: int) -> None:
    """The legend of the last panel's lines below the figure, under a few words on as many lines as its width takes."""
    width = int(figure.get_figwidth() * 20)
    lines = [line for part in words.splitlines() for line in textwrap.wrap(part, width)]
    figure.legend(
        *figure.axes[-1].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=SIZE,
        handlelength=3.2,
        title="\n".join(lines),
        title_fontsize=SIZE - 1,
        alignment="left",
    )


def new_figure(width: float, height: float, feature: str, /, *, dpi: int = DPI) -> Any:
    """An empty figure of a size in inches; nothing of it is kept by Matplotlib."""
    require("matplotlib", extra="report", feature=feature)
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", dpi=dpi)

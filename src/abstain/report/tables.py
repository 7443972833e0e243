"""The table of a summary in Markdown and in LaTeX."""

from collections.abc import Sequence

from abstain.evaluation.summary import Cell, Summary
from abstain.report.markdown import markdown_lines

Ranked = tuple[float, int]
"""An area and its place among the scores: 1 is the best."""


def markdown_table(summary: Summary, /) -> str:
    """AURC-α × 100, the best of a column in bold, those not significantly worse in italics."""
    columns = ["score", "symbol", *(f"{column.mix} α={column.alpha:g}" for column in summary.columns)]
    rows = [[line.score, line.symbol, *map(_markdown, line.cells)] for line in summary.lines]
    lines = markdown_lines(columns, rows, numbers=len(summary.columns))
    return "\n".join(lines) + "\n\nAURC-α × 100. Bold: best; italics: not significantly worse.\n"


def latex_table(summary: Summary, /) -> str:
    """AURC-α × 100 with booktabs rules, as in the paper: the best bold, second and third underlined."""
    cells = [(line.score, [(cell.aurc, cell.place) for cell in line.cells]) for line in summary.lines]
    return latex_of([(column.mix, column.alpha) for column in summary.columns], cells)


def latex_of(columns: Sequence[tuple[str, float]], lines: Sequence[tuple[str, Sequence[Ranked | None]]], /) -> str:
    """The same of a mix and an α for each column and, for each score, areas with their places; None for one missing."""
    head = " & ".join(rf"{_escaped(mix)} $\alpha={alpha:g}$" for mix, alpha in columns)
    parts = [
        "% AURC-alpha x 100. Bold: best; underlined: second and third.",
        rf"\begin{{tabular}}{{l{'r' * len(columns)}}}",
        r"\toprule",
        rf"score & {head} \\",
        r"\midrule",
        *(" & ".join([rf"\texttt{{{_escaped(score)}}}", *map(_latex, cells)]) + r" \\" for score, cells in lines),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(parts) + "\n"


def _markdown(cell: Cell) -> str:
    mark = "**" if cell.is_best else "*" if cell.tied else ""
    return f"{mark}{100 * cell.aurc:.2f}{mark}"


def _latex(cell: Ranked | None) -> str:
    if cell is None:
        return "--"
    text, place = f"{100 * cell[0]:.2f}", cell[1]
    return rf"\textbf{{{text}}}" if place == 1 else rf"\underline{{{text}}}" if place <= 3 else text


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "_&%#$" else letter for letter in text)

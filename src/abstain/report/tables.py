"""The table of a summary in Markdown and in LaTeX."""

from collections.abc import Sequence

from abstain.evaluation.summary import NO_VALUE, Cell, Summary
from abstain.report.markdown import markdown_lines

Ranked = tuple[float, int] | tuple[float, int, float | None]
"""An area, its rank among the scores (1 is the best) and, where it is known, its standard error."""
LATEX = {  # letters that mean something in LaTeX, or that not every engine has
    **{letter: f"\\{letter}" for letter in "_&%#${}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "α": r"$\alpha$",
    "Δ": r"$\Delta$",
    "‖": r"$\Vert$",
    "±": r"$\pm$",
    "₁": r"$_1$",
    "–": "--",
    "\n": " ",
}


def markdown_table(summary: Summary, /) -> str:
    """Metrics × 100, the best of a column in bold, those not significantly worse in italics."""
    columns = ["score", "symbol", *(column.title for column in summary.columns)]
    rows = [[line.score, line.symbol, *map(_markdown, line.cells)] for line in summary.lines]
    lines = markdown_lines(columns, rows, numbers=len(summary.columns))
    caption = f"{summary.caption} Bold: best; italics: not significantly worse."
    return "\n".join([*lines, "", caption]) + "\n"


def latex_table(summary: Summary, /) -> str:
    """Metrics × 100 with booktabs rules, as in the paper: the best bold, second and third underlined."""
    heads = [("AURC" if column.is_alone else column.mix, column.head) for column in summary.columns]
    lines = [
        (
            (line.score, line.symbol),
            [None if cell is None else (cell.value, cell.place, cell.se) for cell in line.cells],
        )
        for line in summary.lines
    ]
    return latex_of(heads, lines, caption=f"{summary.caption} After ±: standard error.")


def latex_of(
    columns: Sequence[tuple[str, str]],
    lines: Sequence[tuple[tuple[str, str], Sequence[Ranked | None]]],
    /,
    *,
    caption: str,
) -> str:
    """The same of a mix and a head for each column and, for each score and symbol, values with places or None."""
    mixes = [mix for mix, _ in columns]
    spans = {mix: mixes.count(mix) for mix in mixes}  # the columns of a mix stand side by side
    over = " & ".join(rf"\multicolumn{{{span}}}{{c}}{{{_escaped(mix)}}}" for mix, span in spans.items())
    ends = [sum(list(spans.values())[: place + 1]) for place in range(len(spans))]
    rules = "".join(
        rf"\cmidrule(lr){{{end - span + 3}-{end + 2}}}" for end, span in zip(ends, spans.values(), strict=True)
    )
    heads = " & ".join(_escaped(head) for _, head in columns)
    parts = [
        rf"% {_escaped(caption)} Bold: best; underlined: second and third. Needs \usepackage{{booktabs}}.",
        rf"\begin{{tabular}}{{ll{'r' * len(columns)}}}",
        r"\toprule",
        rf"& & {over} \\",
        rules,
        rf"score & symbol & {heads} \\",
        r"\midrule",
        *(
            " & ".join([rf"\texttt{{{_escaped(score)}}}", _symbol(symbol), *map(_latex, cells)]) + r" \\"
            for (score, symbol), cells in lines
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(parts) + "\n"


def _markdown(cell: Cell | None) -> str:
    if cell is None:
        return NO_VALUE
    mark = "**" if cell.is_best else "*" if cell.tied else ""
    return f"{mark}{cell.text}{mark}"


def _latex(cell: Ranked | None) -> str:
    if cell is None:
        return "--"
    text, place = f"{100 * cell[0]:.2f}", cell[1]
    marked = rf"\textbf{{{text}}}" if place == 1 else rf"\underline{{{text}}}" if place <= 3 else text
    se = cell[2] if len(cell) == 3 else None
    return marked if se is None else rf"{marked} {{\scriptsize $\pm$ {100 * se:.2f}}}"


def _symbol(symbol: str) -> str:
    letters, has_index, index = symbol.partition("_")
    return _escaped(letters) + (rf"\textsubscript{{{_escaped(index)}}}" if has_index else "")


def _escaped(text: str) -> str:
    return "".join(LATEX.get(letter, letter) for letter in text)

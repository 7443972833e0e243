"""The table of a summary in Markdown and in LaTeX."""

from abstain.evaluation.summary import Cell, Summary


def markdown_table(summary: Summary, /) -> str:
    """AURC-α × 100, the best of a column in bold, those not significantly worse in italics."""
    lines = [
        "| score | symbol | " + " | ".join(f"{column.mix} α={column.alpha:g}" for column in summary.columns) + " |",
        "|---|---|" + "---:|" * len(summary.columns),
    ]
    lines += [
        f"| {line.score} | {line.symbol} | " + " | ".join(map(_markdown, line.cells)) + " |" for line in summary.lines
    ]
    return "\n".join(lines) + "\n\nAURC-α × 100. Bold: best; italics: not significantly worse.\n"


def latex_table(summary: Summary, /) -> str:
    """AURC-α × 100 with booktabs rules, as in the paper: the best bold, second and third underlined."""
    columns = " & ".join(rf"{_escaped(column.mix)} $\alpha={column.alpha:g}$" for column in summary.columns)
    lines = [
        "% AURC-alpha x 100. Bold: best; underlined: second and third.",
        rf"\begin{{tabular}}{{l{'r' * len(summary.columns)}}}",
        r"\toprule",
        rf"score & {columns} \\",
        r"\midrule",
        *(
            " & ".join([rf"\texttt{{{_escaped(line.score)}}}", *map(_latex, line.cells)]) + r" \\"
            for line in summary.lines
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _markdown(cell: Cell) -> str:
    mark = "**" if cell.is_best else "*" if cell.tied else ""
    return f"{mark}{100 * cell.aurc:.2f}{mark}"


def _latex(cell: Cell) -> str:
    text = f"{100 * cell.aurc:.2f}"
    return rf"\textbf{{{text}}}" if cell.place == 1 else rf"\underline{{{text}}}" if cell.place <= 3 else text


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "_&%#$" else letter for letter in text)

"""The table of an evaluation in Markdown, in LaTeX and on disk."""

from itertools import groupby
from pathlib import Path

from abstain._io.files import write_text
from abstain.evaluation.evaluation import Evaluation
from abstain.evaluation.summary import NO_VALUE, Line, MetricCell, MetricColumn, Summary, summarize
from abstain.report.tables import COLUMNS, check_table, markdown_lines, write_columns

ENDINGS = (".md", ".tex", *COLUMNS)
LATEX = {  # characters that mean something in LaTeX, or that not every engine has
    **{character: f"\\{character}" for character in "_&%#${}"},
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


def write_evaluation(evaluation: Evaluation, file: Path, /) -> None:
    """All scores in all mixes: .md and .tex as people read them, .csv and .parquet with a row for each value."""
    check_table(file, ENDINGS)
    ending = file.suffix.lower()
    if ending in COLUMNS:
        rows = evaluation.table()
        write_columns({name: [row[name] for row in rows] for name in rows[0]}, file)
        return
    whole = summarize(evaluation, mixes=evaluation.mixes, shown=None)
    write_text(file, markdown_table(whole) if ending == ".md" else latex_table(whole))


def markdown_table(summary: Summary, /) -> str:
    """Metrics × 100, the best of a column in bold, those not significantly worse in italics."""
    columns = ["score", "symbol", *(column.title for column in summary.columns)]
    rows = [[line.score, line.symbol, *map(_markdown, line.cells)] for line in summary.lines]
    lines = markdown_lines(columns, rows, numbers=len(summary.columns))
    caption = f"{summary.caption} Bold: best; italics: not significantly worse."
    return "\n".join([*lines, "", caption]) + "\n"


def _markdown(cell: MetricCell | None) -> str:
    if cell is None:
        return NO_VALUE
    mark = "**" if cell.is_best else "*" if cell.tied else ""
    return f"{mark}{cell.text}{mark}"


def latex_table(summary: Summary, /) -> str:
    """Metrics × 100 with booktabs rules, as in the paper: the best bold, second and third underlined."""
    caption = f"{summary.caption} After ±: standard error. Bold: best; underlined: second and third."
    parts = [
        rf"% {_escaped(caption)} Needs \usepackage{{booktabs}}.",
        rf"\begin{{tabular}}{{ll{'r' * len(summary.columns)}}}",
        r"\toprule",
        *_latex_heads(summary.columns),
        r"\midrule",
        *map(_latex_line, summary.lines),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(parts) + "\n"


def _latex_heads(columns: tuple[MetricColumn, ...]) -> list[str]:
    """The mixes, each over its columns with a rule below it, and the metrics."""
    over, rules, begin = [], [], 3  # the first two columns are score and symbol
    for mix, group in groupby(columns, key=lambda column: "AURC" if column.is_alone else column.mix):
        span = len(list(group))
        over.append(rf"\multicolumn{{{span}}}{{c}}{{{_escaped(mix)}}}")
        rules.append(rf"\cmidrule(lr){{{begin}-{begin + span - 1}}}")
        begin += span
    heads = " & ".join(_escaped(column.head) for column in columns)
    return [rf"& & {' & '.join(over)} \\", "".join(rules), rf"score & symbol & {heads} \\"]


def _latex_line(line: Line) -> str:
    base, has_index, index = line.symbol.partition("_")
    symbol = _escaped(base) + (rf"\textsubscript{{{_escaped(index)}}}" if has_index else "")
    return " & ".join([rf"\texttt{{{_escaped(line.score)}}}", symbol, *map(_latex, line.cells)]) + r" \\"


def _latex(cell: MetricCell | None) -> str:
    if cell is None:
        return "--"
    marked = cell.text
    if cell.rank <= 3:
        marked = rf"\{'textbf' if cell.is_best else 'underline'}{{{cell.text}}}"
    return marked if cell.se is None else rf"{marked} {{\scriptsize $\pm$ {100 * cell.se:.2f}}}"


def _escaped(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)

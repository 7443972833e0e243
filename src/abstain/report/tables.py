"""Tables in Markdown and LaTeX, and on disk, complete or not at all; the ending decides the format."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from abstain._extras import require
from abstain._io.files import check_output_path, check_suffix, write_text, write_whole
from abstain.evaluation import Evaluation, summarize
from abstain.evaluation.summary import NO_VALUE, MetricCell, Summary

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")  # also of direction


def markdown_lines(columns: Sequence[str], rows: Iterable[Sequence[str]], /, *, numbers: int = 0) -> list[str]:
    r"""Its lines; the last ``numbers`` columns are set to the right.

    >>> markdown_lines(["score", "AURC"], [["a|b", "1.5"]], numbers=1)
    ['| score | AURC |', '|---|---:|', '| a\\|b | 1.5 |']
    """
    rule = "|" + "---|" * (len(columns) - numbers) + "---:|" * numbers
    return [_line(columns), rule, *map(_line, rows)]


def inline(words: str, /) -> str:
    r"""Words that others wrote, in a line or a cell of Markdown: nothing in them is markup or a control character.

    >>> inline("a_b <script>"), inline("\u202egnp")
    ('a\\_b &lt;script&gt;', '\\\\u202egnp')
    """
    whole = words.encode("utf-8", "replace").decode()  # no unpaired surrogates
    shown = _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", " ".join(whole.split()))
    one_line = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]#~])", r"\\\1", one_line)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


Ranked = tuple[float, int] | tuple[float, int, float | None]
"""An area, its rank among the scores (1 is the best) and, where it is known, its standard error."""
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
            [None if cell is None else (cell.value, cell.rank, cell.se) for cell in line.cells],
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
    """The same of a mix and a head for each column and, for each score and symbol, values with ranks or None."""
    mixes = [mix for mix, _ in columns]
    spans = {mix: mixes.count(mix) for mix in mixes}  # the columns of a mix stand side by side
    over = " & ".join(rf"\multicolumn{{{span}}}{{c}}{{{_escaped(mix)}}}" for mix, span in spans.items())
    ends = [sum(list(spans.values())[: index + 1]) for index in range(len(spans))]
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


def _markdown(cell: MetricCell | None) -> str:
    if cell is None:
        return NO_VALUE
    mark = "**" if cell.is_best else "*" if cell.tied else ""
    return f"{mark}{cell.text}{mark}"


def _latex(cell: Ranked | None) -> str:
    if cell is None:
        return "--"
    text, rank = f"{100 * cell[0]:.2f}", cell[1]
    marked = rf"\textbf{{{text}}}" if rank == 1 else rf"\underline{{{text}}}" if rank <= 3 else text
    se = cell[2] if len(cell) == 3 else None
    return marked if se is None else rf"{marked} {{\scriptsize $\pm$ {100 * se:.2f}}}"


def _symbol(symbol: str) -> str:
    base, has_index, index = symbol.partition("_")
    return _escaped(base) + (rf"\textsubscript{{{_escaped(index)}}}" if has_index else "")


def _escaped(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)


COLUMNS = (".csv", ".parquet")
ENDINGS = (".md", ".tex", *COLUMNS)


def check_table(file: Path, endings: Sequence[str] = ENDINGS, /) -> None:
    """What would stop a table from being written, before anything is computed for it."""
    check_suffix("--output", file, endings)
    if file.suffix.lower() == ".parquet":
        require("polars", extra="scale", feature="Writing Parquet")
    check_output_path(file)


def write_evaluation(evaluation: Evaluation, file: Path, /) -> None:
    """All scores in all mixes: .md and .tex as people read them, .csv and .parquet with a row for each value."""
    check_table(file)
    ending = file.suffix.lower()
    if ending in COLUMNS:
        rows = evaluation.table()
        write_columns({name: [row[name] for row in rows] for name in rows[0]}, file)
        return
    whole = summarize(evaluation, mixes=evaluation.mixes, shown=None)
    write_text(file, markdown_table(whole) if ending == ".md" else latex_table(whole))


def write_columns(columns: Mapping[str, Sequence[Any]], file: Path, /) -> None:
    """Columns by name, as .csv or .parquet; None is an empty cell."""
    check_table(file, COLUMNS)
    if file.suffix.lower() == ".parquet":
        polars, stream = require("polars", extra="scale", feature="Writing Parquet"), BytesIO()
        polars.DataFrame(dict(columns)).write_parquet(stream)  # whose errors on a full disk have many forms
        write_whole(file, lambda partial: partial.write_bytes(stream.getbuffer()))
        return
    write_whole(file, lambda partial: _write_csv(partial, columns))


def _write_csv(file: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with open(file, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))

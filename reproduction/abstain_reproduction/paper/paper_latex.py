r"""Tables 3, 4 and 8 as the paper sets them: grey rows for selection, a dashed rule below the margins, three digits."""

from collections.abc import Sequence
from dataclasses import dataclass

from abstain.metrics.intervals import ALPHAS
from abstain_reproduction.paper.paper_table import PaperTable, printed, symbol_of
from abstain_reproduction.paper.score_claims import FOR_OOD, MARGINS

HEADS = {
    "in": "In-D",
    "in+cov": "In-D + Shift (Cov)",
    "in+label": "In-D + Shift (Label)",
    "all": "In-D + Shift (both)",
}
PREAMBLE = r"""% \usepackage{amsmath, graphicx, booktabs}
% \usepackage{color, colortbl}
% \usepackage{arydshln}
"""
COLOUR = r"\definecolor{Gray}{gray}{0.92}"
CAPTION = (
    r"AURC-$\alpha$ on the $10^{-2}$ scale, the lower the better. Score functions proposed for selection are grey, "
    r"the others are for OOD detection. Bold: best of a column; underlined: second and third."
)
MARKS = {1: r"\textbf{%s}", 2: r"\underline{%s}", 3: r"\underline{%s}"}


@dataclass(frozen=True)
class LatexBlock:
    """The columns of one model."""

    task: str
    """As the paper writes it, such as ``ImageNet``."""
    model: str
    table: PaperTable

    @property
    def title(self) -> str:
        """Task and model."""
        return rf"\small{{\texttt{{{escaped(self.task)}}} - {escaped(self.model)}}}"


def paper_latex(sections: Sequence[Sequence[LatexBlock]], /) -> str:
    """One table: sections below each other, as the models of Table 8; blocks side by side, as the tasks of Table 4.

    What it needs in the preamble of a paper stands at its top.
    """
    first = sections[0]
    columns = " c ".join("c" * len(ALPHAS) for block in first for _ in block.table.mixes)
    lines = [
        PREAMBLE + COLOUR,
        r"\begin{table*}",
        rf"\caption{{{CAPTION}}}",
        r"\centering",
        r"\resizebox{\linewidth}{!}{%",
        rf"\begin{{tabular}}{{l {columns}}}",
        *_heads(first),
        *_rows(first),
    ]
    for section in sections[1:]:
        lines += [r"\toprule", rf"\multicolumn{{1}}{{c}}{{{section[0].title}}} & \\", r"\toprule", *_rows(section)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}", r"\end{table*}"]) + "\n"


def _heads(blocks: Sequence[LatexBlock]) -> list[str]:
    """The names of the mixes over the values of α; above them the models where there are several."""
    alone, lines = len(blocks) == 1, []
    if not alone:
        spans = [4 * len(block.table.mixes) - 1 for block in blocks]
        over = " & & ".join(
            rf"\multicolumn{{{span}}}{{c}}{{{block.title}}}" for span, block in zip(spans, blocks, strict=True)
        )
        ends = [1 + sum(spans[: k + 1]) + k for k in range(len(spans))]
        rules = "".join(rf"\cline{{{end - span + 1}-{end}}}" for end, span in zip(ends, spans, strict=True))
        lines = [rf"\multicolumn{{1}}{{c}}{{}} & {over}\\", rules, r"\vspace{-0.9em}", r"\\"]
    title = blocks[0].title if alone else ""
    mixes = [HEADS[mix] for block in blocks for mix in block.table.mixes]
    over = " & & ".join(rf"\multicolumn{{{len(ALPHAS)}}}{{c}}{{\small{{{mix}}}}}" for mix in mixes)
    alphas = " & & ".join(" & ".join(f"{alpha:g}" for alpha in ALPHAS) for _ in mixes)
    return [
        *lines,
        rf"\multicolumn{{1}}{{c}}{{{title}}} & {over}\\",
        r"\midrule",
        rf"\multicolumn{{1}}{{c}}{{\small{{$\alpha$}}}} & {alphas}\\",
        r"\toprule",
    ]


def _rows(blocks: Sequence[LatexBlock]) -> list[str]:
    scores = list(dict.fromkeys(score for block in blocks for score in block.table.scores))
    lines: list[str] = []
    for score in scores:
        if lines and score not in MARGINS and r"\hdashline" not in lines:
            lines.append(r"\hdashline")
        if score not in FOR_OOD:
            lines.append(r"\rowcolor{Gray}")
        cells = [
            " & ".join(_cell(block.table, score, mix, alpha) for alpha in ALPHAS)
            for block in blocks
            for mix in block.table.mixes
        ]
        lines.append(" & ".join([_symbol(score), " & & ".join(cells)]) + r"\\")
    return lines


def _cell(table: PaperTable, score: str, mix: str, alpha: float) -> str:
    area = table.areas.get((score, mix, alpha))
    return "--" if area is None else MARKS.get(table.rank(score, mix, alpha), "%s") % printed(area)


def _symbol(score: str) -> str:
    """A symbol with an index is set as a formula, as in the paper."""
    name, _, index = symbol_of(score).partition("_")
    return rf"${name}_{{\text{{{index}}}}}$" if index else name


def escaped(text: str, /) -> str:
    r"""Names as LaTeX prints them.

    >>> escaped("my_model")
    'my\\_model'
    """
    return "".join(f"\\{letter}" if letter in "_&%#${}" else letter for letter in text if letter not in "\\~^")

import re
import shutil
import subprocess

import pytest

from abstain_reproduction.paper.paper_latex import PREAMBLE, LatexBlock, paper_latex
from abstain_reproduction.paper.paper_table import PaperTable
from abstain_reproduction.paper.published_areas import paper_tables
from abstain_reproduction.paper.score_claims import PAPER_SCORES

PREAMBLES = {
    "the paper's": r"""\usepackage{booktabs}
\usepackage{color, colortbl}
\definecolor{Gray}{gray}{0.92}
\usepackage{tabularx,arydshln}
\usepackage{graphicx,amsfonts,amscd,amssymb,bm,url,color,latexsym,amsthm,amsmath}""",
    "with xcolor": r"""\usepackage{amsmath, graphicx, booktabs}
\usepackage[table]{xcolor}
\usepackage{arydshln}""",
    "as the table says": "\n".join(line.removeprefix("% ") for line in PREAMBLE.splitlines()),
}
DOCUMENT = r"""\documentclass[10pt]{article}
%s
\begin{document}
%s
\end{document}
"""


def block(task, model, name, shown):
    printed = {key[2:]: value for key, value in paper_tables().items() if key[:2] == (task, model)}
    return LatexBlock(name, shown, PaperTable({(s, m, a): value / 100 for (m, s, a), value in printed.items()}))


EVA = block("imagenet", "eva", "ImageNet", "EVA")
WILDS = [block("iwildcam", "flyp", "iWildCam", "FLYP"), block("amazon", "lisa", "Amazon", "LISA")]
OTHERS = [[block("imagenet", name, "ImageNet", name)] for name in ("convnext", "resnext", "volo")]


def rows(latex):
    return [line for line in latex.splitlines() if re.match(r"(\$[RS]|SIRC|Energy|KNN|ViM|ScNet|--)", line)]


def test_the_printed_values_give_the_printed_rows():
    lines = rows(paper_latex([[EVA]]))
    assert lines[0] == (
        r"$RL_{\text{conf-M}}$ & \textbf{0.16} & \textbf{0.53} & \textbf{2.39} & & \textbf{0.24} & \textbf{0.96} & "
        r"\textbf{4.77} & & \textbf{1.04} & \underline{3.34} & \underline{11.7} & & \textbf{0.34} & \textbf{1.20} & "
        r"\textbf{5.43}\\"
    )
    assert lines[8].startswith(r"KNN & \underline{0.99} & 2.27 & 4.58 & & \underline{1.22} & \underline{2.89} & 6.78")
    assert len(lines) == len(PAPER_SCORES)


def test_rows_for_selection_are_grey_and_a_dashed_rule_is_below_the_margins():
    lines = paper_latex([[EVA]]).splitlines()
    assert lines.count(r"\rowcolor{Gray}") == 6
    index = lines.index(r"\hdashline")
    assert lines[index - 1].startswith(r"$RL_{\text{geo-M}}$")
    assert lines[index + 2].startswith("SIRC")
    assert lines[lines.index(next(line for line in lines if line.startswith("Energy"))) - 1].startswith("$RL_")


def test_tasks_stand_side_by_side_and_models_below_each_other():
    both, below = paper_latex([WILDS]), paper_latex(OTHERS)
    assert r"\cline{2-8}\cline{10-16}" in both
    assert r"\multicolumn{7}{c}{\small{\texttt{iWildCam} - FLYP}} & & \multicolumn{7}{c}" in both
    assert len(rows(both)) == 10
    assert len(rows(below)) == 30
    assert below.count(r"\hdashline") == 3
    assert r"\multicolumn{1}{c}{\small{\texttt{ImageNet} - volo}} & \\" in below


def test_every_row_has_a_cell_for_every_column():
    for latex in (paper_latex([[EVA]]), paper_latex([WILDS]), paper_latex(OTHERS)):
        assert {line.count("&") for line in rows(latex)} == {15}


def test_a_selection_head_has_a_grey_row():
    areas = EVA.table.areas | {("selection_head", mix, alpha): 0.5 for _, mix, alpha in EVA.table.areas}
    lines = paper_latex([[LatexBlock("CIFAR", "my_net", PaperTable(areas))]]).splitlines()
    index = next(number for number, line in enumerate(lines) if line.startswith("ScNet"))
    assert lines[index - 1] == r"\rowcolor{Gray}"
    assert r"\texttt{CIFAR} - my\_net" in "\n".join(lines)


def test_the_grey_is_the_papers_and_needs_no_xcolor():
    latex = paper_latex([[EVA]])
    assert r"\definecolor{Gray}{gray}{0.92}" in latex
    assert r"\providecolor" not in latex  # only xcolor has it


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs TeX with booktabs, colortbl and arydshln")
@pytest.mark.parametrize("preamble", PREAMBLES.values(), ids=PREAMBLES)
def test_the_tables_compile(tmp_path, preamble):
    packages = subprocess.run(
        ["kpsewhich", "arydshln.sty", "colortbl.sty"], capture_output=True, text=True, check=False
    )
    if len(packages.stdout.split()) < 2:
        pytest.skip("needs arydshln and colortbl")
    tables = "\n".join(paper_latex(sections) for sections in ([[EVA]], [WILDS], OTHERS))
    (tmp_path / "tables.tex").write_text(DOCUMENT % (preamble, tables))
    line = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    made = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert made.returncode == 0, made.stdout[-2000:]
    assert "Output written on tables.pdf" in made.stdout

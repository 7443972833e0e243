"""Every format says the same."""

import csv
import re
import subprocess

import numpy as np
import pytest

from abstain import Outputs, evaluate
from abstain.evaluation import summarize
from abstain.evaluation.tables import latex_table, markdown_table, write_evaluation
from abstain.report.tables import write_columns

METRICS = ["augrc", "coverage_at_risk(risk=0.05)", "ood_auroc", "brier_score"]
HOSTILE = "50% of $x_1^2$ & {more \\textbf #1 ~|<b>"


@pytest.fixture(scope="module")
def evaluation(digits):
    return evaluate(digits, scores=["max_softmax", "confidence_margin", "energy"], metrics=METRICS)


@pytest.fixture(scope="module")
def whole(evaluation):
    return summarize(evaluation, mixes=evaluation.mixes, shown=None)


def test_a_column_is_a_metric_on_a_mix_and_the_largest_is_best_where_it_should_be(evaluation, whole):
    assert [column.title for column in whole.columns if column.mix == "in"] == [
        "in α=0.1", "in α=0.5", "in α=1", "in augrc", "in coverage_at_risk(risk=0.05)",
    ]  # fmt: skip
    position = [column.title for column in whole.columns].index("all ood_auroc")
    values = {
        row["score"]: row["value"]
        for row in evaluation.extra_metrics
        if (row["mix"], row["metric"]) == ("all", "ood_auroc")
    }
    for line in whole.lines:
        assert line.cells[position].value == values[line.score]
        assert line.cells[position].is_best == (values[line.score] == max(values.values()))
        assert line.cells[position].low < line.cells[position].value < line.cells[position].high
    assert whole.of_softmax == tuple(
        ("brier_score", row["mix"], row["value"]) for row in evaluation.extra_metrics if row["metric"] == "brier_score"
    )


def test_markdown_and_latex_have_every_value_times_100(whole):
    markdown, latex = markdown_table(whole), latex_table(whole)
    for line, shown in zip(whole.lines, markdown.splitlines()[2:], strict=False):
        assert [cell.strip(" *") for cell in shown.split("|")[3:-1]] == [cell.text for cell in line.cells]
        row = next(row for row in latex.splitlines() if row.startswith(rf"\texttt{{{line.score}}}".replace("_", r"\_")))
        values = re.findall(r"(?<!pm\$ )\b\d+\.\d\d", row)
        assert values == [cell.text for cell in line.cells]
        errors = [f"{100 * cell.se:.2f}" for cell in line.cells if cell.se is not None]
        assert re.findall(r"\$\\pm\$ (\d+\.\d\d)", row) == errors != []
    assert "Higher is better for coverage_at_risk(risk=0.05), ood_auroc." in markdown


def test_csv_and_parquet_have_a_row_for_each_value(evaluation, tmp_path):
    polars = pytest.importorskip("polars")
    write_evaluation(evaluation, tmp_path / "t.csv")
    write_evaluation(evaluation, tmp_path / "t.parquet")
    with open(tmp_path / "t.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    frame = polars.read_parquet(tmp_path / "t.parquet")
    assert len(rows) == len(frame) == len(evaluation.rows) + len(evaluation.extra_metrics)
    for row, kept, known in zip(rows, frame.to_dicts(), evaluation.rows, strict=False):
        assert float(row["value"]) == kept["value"] == known["aurc"]
        assert (row["score"], row["mix"], float(row["alpha"])) == (known["score"], known["mix"], known["alpha"])
    last = rows[-1]
    assert (last["score"], last["alpha"], last["best"]) == ("energy", "", "")
    assert float(last["value"]) == evaluation.extra_metrics[-1]["value"]


def test_the_same_table_is_the_same_bytes(evaluation, tmp_path):
    for ending in ("md", "tex", "csv", "parquet"):
        files = [tmp_path / f"{number}.{ending}" for number in (1, 2)]
        for file in files:
            write_evaluation(evaluation, file)
        assert files[0].read_bytes() == files[1].read_bytes()


def test_columns_must_go_to_a_file_of_columns(tmp_path):
    with pytest.raises(ValueError, match=r"`--output` must end in .csv or .parquet, got t.md."):
        write_columns({"a": [1]}, tmp_path / "t.md")


def hostile_table():
    rng = np.random.default_rng(0)
    outputs = Outputs(confidences={HOSTILE: rng.random(50), "plain": rng.random(50)}, errors=rng.random(50) < 0.2)
    return latex_table(summarize(evaluate(outputs)))


def test_no_name_can_break_out_of_latex():
    row = next(line for line in hostile_table().splitlines() if "50" in line and line.startswith(r"\texttt"))
    bare = re.sub(r"\\[&%$#_{}]|\\text[a-z]+\{\}", "", row).replace(r"$\pm$", "")
    assert bare.count("&") == 4
    assert not re.search(r"[%$#~^|<>]", bare)
    assert bare.count("{") == bare.count("}")


@pytest.mark.thorough  # needs pdflatex with booktabs
def test_latex_compiles(whole, tmp_path):
    body = "\n\n".join((latex_table(whole), hostile_table()))
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs}\begin{document}\tiny "
    (tmp_path / "t.tex").write_text(head + "\n" + body + r"\end{document}", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]

"""The table of scores says what the summary says."""

import re

import numpy as np

from abstain import Outputs, evaluate
from abstain.evaluation import summarize
from abstain.evaluation.operating_point import point_of_risk
from abstain.evaluation.page.context import PageContext
from abstain.evaluation.page.scores_table import scores_table


def intervals(evaluation, mix):
    case = PageContext(evaluation, point_of_risk(evaluation, risk=0.1, delta=0.05), 0.05)
    view = scores_table(case).data["views"][f"{mix}|augrc"]
    lines = summarize(evaluation, mixes=evaluation.mixes, shown=None).lines
    return {line.score: shown[2] for line, shown in zip(lines, view, strict=True)}


def test_intervals_of_further_metrics_are_those_of_the_summary(evaluation):
    summary = {line.score: line.cells[-1] for line in summarize(evaluation, mixes=["in"], shown=None).lines}
    assert intervals(evaluation, "in") == {
        name: f"{100 * cell.low:.2f}% – {100 * cell.high:.2f}%" for name, cell in summary.items()
    }


def test_metrics_are_chosen_by_their_names_in_words():
    rng = np.random.default_rng(0)
    rows = Outputs(confidences={"a": rng.random(200)}, errors=rng.random(200) < 0.3)
    evaluation = evaluate(rows, metrics=["augrc", "risk_at_coverage", "coverage_at_risk(risk=0.02)"])
    case = PageContext(evaluation, point_of_risk(evaluation, risk=0.1, delta=0.05), 0.05)
    shown = re.findall(r"<option[^>]*>([^<]*) \((?:lower|higher) is better\)", scores_table(case).html)
    assert shown == ["AURC", "AUGRC", "Risk at coverage 80%", "Coverage at risk 2%"]

import re

import numpy as np
import pytest

from abstain import Outputs, evaluate
from abstain.report.figures import distinct_mixes, risk_coverage_figure
from abstain.report.headline import headline
from abstain.report.markdown import markdown_table


def test_the_headline_names_the_best_and_what_is_as_good(digits):
    text = headline(evaluate(digits, scores=["max_softmax", "confidence_margin", "energy"]))
    assert re.match(r"Over all samples \(4684 samples, .*% errors\), confidence_margin ranks best: AURC \d", text)
    assert text.endswith("every other score is significantly worse.")


@pytest.mark.parametrize(
    ("scores", "ending"),
    [
        (["energy"], "energy has AURC"),
        (["max_softmax", "doctor"], "no score is significantly worse."),
    ],
)
def test_headlines_of_other_outcomes(scores, ending):
    rng = np.random.default_rng(0)
    outputs = Outputs(logits=rng.normal(size=(80, 3)), labels=rng.integers(3, size=80))
    assert ending in headline(evaluate(outputs, scores=scores))


def test_the_figure_has_a_panel_a_mix_and_a_line_a_score(digits):
    evaluation = evaluate(digits, scores=["max_softmax", "confidence_margin"])
    figure = risk_coverage_figure(evaluation)
    assert [axes.get_title().split(" (")[0] for axes in figure.axes] == [
        "In-distribution",
        "+ covariate shift",
        "+ label shift",
        "All shifts",
    ]
    for axes in figure.axes:
        assert len(axes.lines) == 2


def test_the_markdown_table_marks_the_best(digits):
    evaluation = evaluate(digits, scores=["max_softmax", "confidence_margin"])
    lines = markdown_table(evaluation).splitlines()
    assert lines[0].startswith("| score | in α=0.1 |")
    assert len({line.count("|") for line in lines}) == 1
    best = evaluation.best("all")
    assert lines[-1].endswith(f"| **{100 * best['aurc']:.2f}** |")


def test_all_is_not_shown_twice(digits):
    evaluation = evaluate(digits.select(digits.shift == "none"), scores=["energy"])
    assert distinct_mixes(evaluation) == ["in"]

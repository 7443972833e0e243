import re

import numpy as np
import pytest

from abstain import Outputs, calibrate, evaluate, scale_sensitivity
from abstain.evaluation import summarize, verdict
from abstain.evaluation.figures.risk_coverage import draw_risk_coverage, risk_coverage_figure
from abstain.evaluation.figures.scale import draw_scale
from abstain.evaluation.tables import latex_table, markdown_table


def test_the_verdict_names_the_best_the_usual_and_whether_they_differ(digits):
    judgement = verdict(evaluate(digits, scores=["max_softmax", "confidence_margin", "energy"]))
    assert re.match(
        r"Use confidence_margin: over all samples \(4,684 rows, .*% errors\) it ranks best, AURC \d.* against \d.* for "
        r"max_softmax, the usual baseline, and the difference is significant\.",
        judgement.words,
    )
    assert judgement.baseline == "max_softmax"
    assert 0 < judgement.low < judgement.baseline_aurc - judgement.aurc < judgement.high


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (["energy"], "energy has AURC"),
        (["max_softmax", "doctor"], "difference is not significant"),
        (["doctor", "energy"], "AURC"),
    ],
)
def test_verdicts_of_other_outcomes(scores, words):
    rng = np.random.default_rng(0)
    outputs = Outputs(logits=rng.normal(size=(80, 3)), labels=rng.integers(3, size=80))
    assert words in verdict(evaluate(outputs, scores=scores)).words


def test_nothing_to_tell_where_all_is_right():
    outputs = Outputs(logits=2 * np.eye(3), labels=[0, 1, 2])
    assert "every answer is right" in verdict(evaluate(outputs, scores=["energy", "doctor"])).words


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


def test_a_curve_of_many_samples_is_drawn_with_few_points():
    rng = np.random.default_rng(0)
    outputs = Outputs(confidences={"a": rng.random(30_000)}, errors=rng.random(30_000) < 0.1)
    line = risk_coverage_figure(evaluate(outputs, scores=["a"])).axes[0].lines[0]
    assert len(line.get_xdata()) == 2000
    assert line.get_xdata()[-1] == 100


def test_tables_mark_the_best(digits):
    evaluation = evaluate(digits, scores=["max_softmax", "confidence_margin", "energy", "max_logit"])
    summary = summarize(evaluation, mixes=evaluation.mixes)
    lines = markdown_table(summary).splitlines()
    assert lines[0].startswith("| score | symbol | in α=0.1 |")
    assert len({line.count("|") for line in lines[:-2]}) == 1
    best = evaluation.best("all")
    assert lines[2].startswith(f"| {best.score} |")
    assert lines[2].endswith(f"| **{100 * best.aurc:.2f}** |")
    assert lines[-1] == "AURC-α × 100, lower is better. Bold: best; italics: not significantly worse."
    latex = latex_table(summary).splitlines()
    assert latex[7].startswith(r"\texttt{confidence\_margin} & RL\textsubscript{conf-M} &")
    assert rf"\textbf{{{100 * best.aurc:.2f}}}" in latex[7]
    assert all(line.count("&") == 13 for line in latex[5:] if line.endswith(r"\\"))
    assert [line.endswith(r"} \\") for line in latex[7:11]] == [True, True, True, True]


def test_a_summary_is_short_and_keeps_what_people_use(digits):
    evaluation = evaluate(digits)
    summary = summarize(evaluation, shown=3)
    assert len(summary.lines) == 4
    assert summary.lines[-1].score == "max_softmax"
    assert summary.not_shown == len(evaluation.scores) - 4
    assert {column.mix for column in summary.columns} == {"all"}
    with pytest.raises(
        ValueError, match=r"`mixes` must be mixes of these outputs \(in, in\+cov, in\+label, all\), got 'out'"
    ):
        summarize(evaluation, mixes=["out"])


def test_few_errors_are_said_to_be_the_reason_for_wide_intervals(digits):
    clean = digits.select((digits.shift == "none") & ~digits.errors)
    summary = summarize(evaluate(clean, scores=["energy"]))
    assert any("0.0% errors: intervals are wide" in remark for remark in summary.remarks())


def test_notebooks_get_a_table_and_nothing_can_break_out_of_it():
    rng = np.random.default_rng(0)
    evil = Outputs(confidences={"<script>": rng.random(50)}, errors=rng.random(50) < 0.2)
    html = evaluate(evil)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert len(repr(evaluate(evil))) < 200


def test_the_verdict_is_of_the_mix_shown_and_names_who_is_better_where_less_is_accepted():
    rng = np.random.default_rng(0)
    wrong = rng.random(4000) < 0.3
    noise = rng.normal(size=4000)
    certain = ~wrong & (rng.random(4000) < 0.2)  # right on a few, blind to the others
    given = {"steady": noise - wrong, "early": np.where(certain, noise + 10, noise)}
    evaluation = evaluate(Outputs(confidences=given, errors=wrong))
    assert summarize(evaluation, mixes=["in"]).verdict.mix == "in"
    judgement = verdict(evaluation)
    assert judgement.score == "steady"
    assert [alpha for alpha, _ in judgement.elsewhere] == [0.1]
    assert "Better where less is accepted: early at coverages up to 0.1." in judgement.words


def test_what_people_use_stays_where_nothing_is_significantly_better():
    rng = np.random.default_rng(0)
    outputs = Outputs(logits=rng.normal(size=(80, 3)), labels=rng.integers(3, size=80))
    judgement = verdict(evaluate(outputs, scores=["max_softmax", "doctor", "neg_entropy"]))
    assert judgement.score == "max_softmax"
    assert judgement.words.startswith("Stay with max_softmax") == (judgement.best != "max_softmax")


@pytest.mark.parametrize("seed", range(6))
def test_the_simplest_is_recommended_of_those_that_cannot_be_told_apart(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(5, size=300)
    outputs = Outputs(logits=rng.normal(size=(300, 5)) + 2 * np.eye(5)[labels], labels=labels)
    judgement = verdict(evaluate(outputs, scores=["ts_doctor", "doctor"]))
    assert judgement.score == "doctor"
    assert ("doctor needs no fitting and its" in judgement.words) == (judgement.best == "ts_doctor")
    assert judgement.score_aurc >= judgement.aurc


def test_the_verdict_names_other_mixes_where_what_people_use_is_ahead():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=3000)
    shift = np.repeat(["none", "covariate"], [500, 2500])
    logits = rng.normal(size=(3000, 3)) + 2 * np.eye(3)[labels] * (shift == "none")[:, None]
    wrong = logits.argmax(1) != labels
    confidence = np.where(shift == "none", rng.normal(size=3000) + 1, rng.normal(size=3000) - 3 * wrong)
    evaluation = evaluate(
        Outputs(logits=logits, labels=labels, shift=shift, confidences={"own": confidence}),
        scores=["own", "max_softmax"],
    )
    judgement = verdict(evaluation)
    assert (judgement.score, [mix for mix, _, _ in judgement.worse]) == ("own", ["in"])
    assert "max_softmax is ahead of own on in-distribution samples" in judgement.words
    assert verdict(evaluation, mix="in").worse == ()


def test_what_is_significantly_worse_is_not_recommended_for_being_simple():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=900)
    logits = rng.normal(size=(900, 3)) + 2 * np.eye(3)[labels]
    right = logits.argmax(1) == labels
    features = np.c_[np.where(right, 0.0, 5.0), rng.normal(size=900)]  # wrong ones lie apart
    outputs = Outputs(logits=logits, labels=labels, features=features, confidences={"noise": rng.normal(size=900)})
    assert verdict(evaluate(outputs, scores=["noise", "delta_knn"])).score == "delta_knn"


def test_figures_are_drawn_on_axes_that_are_given(digits):
    from matplotlib.figure import Figure

    evaluation = evaluate(digits, scores=["max_softmax", "confidence_margin"])
    axes = Figure().subplots(1, 3)
    draw_risk_coverage(axes[0], evaluation, mix="in")
    assert len(axes[0].lines) == 2
    assert axes[0].get_ylabel() == "Selective risk (%)"
    curve = evaluation.curve("confidence_margin", "all")
    assert curve.plot(ax=axes[1], label="margin") is axes[1]
    np.testing.assert_array_equal(axes[1].lines[0].get_ydata(), curve.risk)
    draw_scale(axes[2], scale_sensitivity(digits[digits.shift == "none"], scales=[0.5, 1.0, 2.0]))
    assert len(axes[2].lines) >= 4


def test_notebooks_show_guarantees_in_words_and_escaped():
    rng = np.random.default_rng(0)
    confidence = rng.random(2000)
    outputs = Outputs(confidences={"<b>": confidence}, errors=rng.random(2000) < 0.3 * (1 - confidence))
    selector = calibrate(outputs, risk=0.1)
    for shown in (selector._repr_html_(), selector.threshold._repr_html_(), outputs._repr_html_()):
        assert "<b>" not in shown.replace("<b>Selector</b>", "").replace("<b>Threshold</b>", "")
    assert "at most 0.1" in selector.threshold._repr_html_()
    assert len(repr(selector)) < 200

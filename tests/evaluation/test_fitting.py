"""Rows that scores are fitted on: given, or drawn and left out."""

import numpy as np
import pytest

from abstain import FittingDraw, Outputs, evaluate
from abstain.scores import SCORES
from abstain.scores.learned import Learned
from abstain.scores.logit_scores import Energy, MaxSoftmax


def test_without_fitted_scores_nothing_is_removed(mixed_outputs):
    outputs = mixed_outputs()
    assert evaluate(outputs, scores=["energy"]).n == len(outputs)


def test_a_calibration_sample_with_nan_rows_is_used_without_them(digits):
    first, second = digits.split(0.3, seed=1)
    inside = first.select(first.shift == "none")
    x = inside.features.copy()
    x[3, 0] = np.nan
    broken = Outputs(
        logits=inside.logits,
        features=x,
        labels=inside.labels,
        weight=inside.weight,
        bias=inside.bias,
        ids=inside.ids,
        nonfinite="reject",
    )
    scores = ["knn", "vim", "rmds", "delta_mds"]
    expected = evaluate(second, scores=scores, fitting=inside.select(np.arange(len(inside)) != 3))
    assert evaluate(second, scores=scores, fitting=broken).rows == expected.rows


def test_samples_in_the_calibration_and_in_the_evaluation_are_noticed(digits):
    notes = evaluate(digits, scores=["knn"], fitting=digits.select(digits.shift == "none")).notes
    assert any("866 ids are in the fitting sample and in the evaluation" in note for note in notes)


def test_every_score_of_the_registry_can_be_had_with_features_and_head(digits):
    first, second = digits.split(0.3, seed=1)
    evaluation = evaluate(second, fitting=first.select(first.shift != "label"))
    assert evaluation.scores == [name for name, score in SCORES.items() if not score.on_request]
    assert not evaluation.left_out
    assert evaluation.n == len(second)


def test_fitting_rows_leave_with_their_copies_and_for_all_scores(digits):
    evaluation = evaluate(digits, scores=["max_softmax", "knn"], fitting="paper")
    left = len(digits) - evaluation.n
    assert left == 5 * digits.n_classes * 5  # 40 clean samples, each with 4 corrupted copies
    assert {row["n"] for row in evaluation.rows if row["mix"] == "in"} == {866 - 40}
    assert evaluate(digits, scores=["knn"], fitting=FittingDraw("paper", 1)).rows != evaluation.rows


def test_at_most_half_of_the_in_distribution_rows_are_used(mixed_outputs):
    outputs = mixed_outputs(n=20)
    few = outputs.select(np.r_[0:12, 20:60])
    evaluation = evaluate(few, scores=["knn_logits"], fitting="paper")
    assert evaluation.row("knn_logits", "in", 1.0).n == 6
    kept = evaluate(few, scores=["knn_logits"]).outputs.ids
    assert len(np.unique(kept)) >= len(np.unique(few.ids)) // 2


def test_scores_that_cannot_be_fitted_are_listed_with_the_reason(digits):
    right = digits.select((digits.shift == "none") & ~digits.errors)
    assert "no wrong prediction" in evaluate(digits, fitting=right).left_out["delta_knn"]
    shifted = digits.select(digits.shift != "none")
    assert "too few in-distribution samples" in evaluate(shifted).left_out["knn"]
    bare = Outputs(logits=digits.logits[:50], labels=digits.labels[:50])
    assert evaluate(digits, fitting=bare).left_out["knn"] == "the fitting outputs have no features"


def test_the_two_draws_to_fit_on(digits):
    for fitting, others in (("fifth", True), ("paper", True)):
        notes = evaluate(digits, scores=["knn"], fitting=fitting).notes
        assert any("were drawn and left out of the evaluation: " in note for note in notes) == others
    with pytest.raises(ValueError, match="`fitting` must be outputs, 'fifth' or 'paper', got 'half'"):
        evaluate(digits, fitting="half")


def test_a_score_that_learns_gets_rows_of_every_kind_and_only_on_request(digits):
    few = Learned((MaxSoftmax(), Energy()))
    evaluation = evaluate(digits, scores=["max_softmax", few])
    assert evaluation.scores == ["max_softmax", "learned"]
    assert any(note.startswith("learned weighs ") for note in evaluation.notes)
    paper = evaluate(digits, scores=["max_softmax", few], fitting="paper")
    assert paper.left_out == {
        "learned": "it learns from rows of every kind, and the draw of the paper is in-distribution"
    }
    assert "learned" not in evaluate(digits.select(np.arange(0, len(digits), 9))).scores

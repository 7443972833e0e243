"""What `evaluate` compares, and which outputs it refuses."""

import json

import numpy as np
import pytest

import abstain
from abstain import Outputs, evaluate
from abstain.metrics import aurc, aurc_se, compare


def test_rows_are_what_the_metrics_give(mixed_outputs):
    outputs = mixed_outputs()
    evaluation = evaluate(outputs, scores=["max_softmax", "energy"])
    assert len(evaluation.rows) == 2 * 4 * 3
    kept = outputs.shift != "label"
    confidence = abstain.scores.energy(outputs.logits)[kept]
    row = evaluation.row("energy", "in+cov", 0.5)
    assert row.aurc == aurc(confidence, outputs.errors[kept], alpha=0.5)
    assert row.se == aurc_se(confidence, outputs.errors[kept], alpha=0.5, ids=outputs.ids[kept])
    assert (row.n, row.errors) == (600, outputs.errors[kept].sum())
    assert row.low < row.aurc < row.high


def test_the_best_of_a_column_is_marked_and_ties_are_paired(mixed_outputs):
    outputs = mixed_outputs()
    evaluation = evaluate(outputs, scores=["max_softmax", "doctor", "energy", "confidence_margin"], alphas=[1.0])
    column = [row for row in evaluation.rows if row["mix"] == "all"]
    best = evaluation.best("all")
    assert best.aurc == min(row["aurc"] for row in column)
    z, e = outputs.logits, outputs.errors
    for row in column:
        confidences = (abstain.scores.logit_scores(z)[name] for name in (row["score"], best.score))
        comparison = compare(*confidences, e, ids=outputs.ids)
        assert row["tied"] == (row["best"] or not comparison.low > 0)


def test_labels_are_needed():
    with pytest.raises(ValueError, match=r"`outputs` must have labels"):
        evaluate(Outputs(logits=np.ones((3, 2))))


def test_some_coverage_is_needed(mixed_outputs):
    with pytest.raises(ValueError, match="`alphas` must name at least one"):
        evaluate(mixed_outputs(), alphas=[])


def test_one_sample_is_refused_in_one_line():
    with pytest.raises(ValueError, match=r"at least 2 different samples to be evaluated, got 1 row"):
        evaluate(Outputs(logits=[[2.0, 0.0]], labels=[0]))


@pytest.mark.parametrize("wrong", [False, True])
def test_all_right_and_all_wrong_are_defined(wrong):
    z = np.random.default_rng(0).normal(size=(50, 3))
    labels = (z.argmax(1) + wrong) % 3
    evaluation = evaluate(Outputs(logits=z, labels=labels))
    assert {row["aurc"] for row in evaluation.rows} == {float(wrong)}
    json.dumps(evaluation.to_dict(), allow_nan=False)


def test_nonfinite_rows_count_as_rejected_errors(mixed_outputs):
    outputs = mixed_outputs()
    z = outputs.logits.copy()
    z[:3] = np.nan
    broken = Outputs(logits=z, labels=outputs.labels, shift=outputs.shift, nonfinite="reject")
    evaluation = evaluate(broken, scores=["confidence_margin"])
    confidence = abstain.scores.confidence_margin(np.nan_to_num(z))
    confidence[:3] = -np.inf
    assert evaluation.row("confidence_margin", "all", 1.0).aurc == aurc(confidence, broken.errors)
    assert any("3 non-finite rows" in note for note in evaluation.notes)
    assert evaluation.curve("confidence_margin", "all").coverage[-1] == pytest.approx(1 - 3 / len(broken))


def test_the_disagreement_of_the_argmaxes_is_reported(digits):
    assert any("another class than the largest logit in" in note for note in evaluate(digits).notes)


def test_a_head_that_does_not_make_the_logits_is_reported():
    rng = np.random.default_rng(0)
    outputs = Outputs(
        logits=rng.normal(size=(40, 3)),
        labels=rng.integers(3, size=40),
        features=rng.normal(size=(40, 2)),
        weight=np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]),
    )
    evaluation = evaluate(outputs)
    assert any("does NOT make the logits" in note for note in evaluation.notes)
    assert evaluation.left_out["geometric_margin"] == "the outputs have a weight of norm zero at class 2"


def test_progress_runs_from_nothing_to_all(mixed_outputs):
    seen = []
    evaluate(mixed_outputs(), scores=["energy"], progress=lambda _, share: seen.append(share))
    assert seen[0] == 0
    assert seen[-1] == 1
    assert seen == sorted(seen)

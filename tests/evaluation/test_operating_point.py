import numpy as np
import pytest

from abstain import Outputs, Risk, calibrate, evaluate
from abstain.evaluation import verdict
from abstain.evaluation.operating_point import point_of_risk, point_of_selector
from abstain.thresholds.target_risk import target_risk


def test_a_target_is_certified_as_calibrate_would(evaluation):
    point = point_of_risk(evaluation, risk=0.1, delta=0.05)
    expected = target_risk(evaluation.confidence[point.score], evaluation.errors, risk=0.1, delta=0.05)
    assert point.value == expected.value
    assert point.guaranteed_risk == 0.1
    assert np.count_nonzero(point.accepted) == expected.accepted


def test_without_a_target_the_point_aims_at_half_of_the_errors(evaluation):
    point = point_of_risk(evaluation, risk=None, delta=0.05)
    assert not point.was_asked
    assert 0.5 * evaluation.errors.mean() <= point.target <= 1.5 * evaluation.errors.mean()
    assert point.risk < point.target


def test_of_many_rows_with_ids_the_guarantee_is_about_clusters_also_where_no_id_repeats(monkeypatch):
    rng = np.random.default_rng(0)
    confidence = rng.random(500)
    errors = rng.random(500) < 0.4 * (1 - confidence)
    monkeypatch.setattr("abstain.evaluation.operating_point.MANY", 100)
    evaluation = evaluate(Outputs(confidences={"a": confidence}, errors=errors, ids=np.arange(500)))
    threshold = point_of_risk(evaluation, risk=0.15, delta=0.05).threshold
    assert threshold == target_risk(confidence, errors, risk=0.15, delta=0.05, ids=np.arange(500))
    assert threshold.guarantee.largest == 1


def test_where_nothing_can_be_guaranteed_every_answer_is_accepted_and_the_reason_is_told():
    outputs = Outputs(confidences={"a": [0.9, 0.8, 0.7, 0.6]}, errors=[False, True, True, False])
    point = point_of_risk(evaluate(outputs), risk=0.01, delta=0.05)
    assert point.threshold is None
    assert point.accepted.all()
    assert point.objection.startswith("No threshold certifies a risk of at most 1% with probability 95% on these rows.")
    assert point.objection.endswith(" achievable.")


def test_rows_that_are_not_usable_stay_rejected():
    logits = np.random.default_rng(0).normal(size=(50, 3))
    logits[3] = np.nan
    outputs = Outputs(logits=logits, labels=np.zeros(50, dtype=int), nonfinite="reject")
    point = point_of_risk(evaluate(outputs, scores=["energy"]), risk=None, delta=0.05)
    assert not point.accepted[3]


@pytest.mark.parametrize("per", [None, "class"])
def test_a_selector_accepts_what_it_accepts(evaluation, per):
    selector = calibrate(evaluation.outputs, Risk(0.2, per=per), score="confidence_margin")
    point = point_of_selector(evaluation, selector)
    np.testing.assert_array_equal(point.accepted, selector.accepts(evaluation.outputs))
    np.testing.assert_array_equal(point.margin > 0, point.accepted)
    assert (point.value is None) == (per is not None)
    assert point.guaranteed_risk == 0.2


def test_the_score_is_the_one_that_evaluate_recommends_also_where_another_accepts_more():
    rng = np.random.default_rng(3)
    wrong = rng.random(1000) < 0.1
    usual = rng.normal(size=1000) - 3 * wrong
    outputs = Outputs(
        confidences={"a": usual + 0.4 * rng.normal(size=1000), "b": usual + 0.4 * rng.normal(size=1000)}, errors=wrong
    )
    evaluation = evaluate(outputs)
    widths = {score: target_risk(evaluation.confidence[score], wrong, risk=0.02, delta=0.05).accepted for score in "ab"}
    recommended = verdict(evaluation).score
    assert widths[recommended] < max(widths.values())
    assert point_of_risk(evaluation, risk=0.02, delta=0.05).score == recommended


def test_of_a_risk_out_of_reach_the_achievable_one_is_offered():
    rng = np.random.default_rng(0)
    confidence = rng.random(500)
    evaluation = evaluate(Outputs(confidences={"a": confidence}, errors=rng.random(500) < 0.4 * (1 - confidence)))
    refused, kept = (point_of_risk(evaluation, risk=risk, delta=0.05) for risk in (0.001, 0.15))
    assert (kept.offered, kept.offered_risk) == (kept.value, 0.15)
    assert refused.guaranteed_risk is None
    expected = target_risk(confidence, evaluation.errors, risk=refused.offered_risk, delta=0.05)
    assert refused.offered == expected.value

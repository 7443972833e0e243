"""The page tests a guarantee as `certify` does."""

import re
from dataclasses import replace

import numpy as np
import pytest

from abstain import Outputs, Risk, calibrate, certify, evaluate
from abstain.evaluation.operating_point import point_of_risk, point_of_selector
from abstain.evaluation.page.context import PageContext
from abstain.evaluation.page.decision import decision, decision_words
from abstain.evaluation.page.samples import samples
from abstain.report.page import text
from abstain.selector.certificate_words import findings, verdict_words, words_of_test


def drawn(n, seed, *, copies, rate):
    rng = np.random.default_rng(seed)
    confidence = rng.random(n)
    wrong = rng.random(n) < rate * (1 - confidence)
    ids = np.repeat(np.arange(n), copies)
    return Outputs(confidences={"a": np.repeat(confidence, copies)}, errors=np.repeat(wrong, copies), ids=ids)


@pytest.mark.parametrize(("copies", "rate"), [(1, 0.4), (1, 0.8), (3, 0.4), (3, 0.8)])
def test_what_is_told_of_a_guarantee_is_what_the_certificate_tells(copies, rate):
    selector = calibrate(drawn(3000, 0, copies=copies, rate=0.4), risk=0.1)
    fresh = drawn(1000, 1, copies=copies, rate=rate)
    html = of_selector(fresh, selector)
    expected = certify(selector, fresh)
    assert text(words_of_test(expected.fresh.tests[0])) in html
    assert text(verdict_words(expected)) in html
    assert (expected.verdict == "refuted") == (rate > 0.5)


def test_what_is_aimed_at_without_proof_and_what_shares_a_level_are_told_as_the_certificate_tells():
    single = calibrate(drawn(3000, 0, copies=1, rate=0.4), risk=0.1)
    threshold, fresh = single.threshold, drawn(1000, 1, copies=1, rate=0.4)
    aimed = replace(threshold, guarantee=threshold.guarantee.unproved("for a test"), further=(threshold.guarantee,))
    selector = replace(single, threshold=aimed)
    certificate = certify(selector, fresh)
    assert "is aimed at" in findings(certificate)[0]
    assert all(text(words) in of_selector(fresh, selector) for words in findings(certificate))


def test_rows_that_calibrated_a_selector_cannot_test_it():
    rows = drawn(3000, 0, copies=1, rate=0.4)
    assert "These are the rows it was calibrated on" in of_selector(rows, calibrate(rows, risk=0.1))


def test_rows_of_which_some_calibrated_a_selector_cannot_test_it_either():
    rows, more = (drawn(2000, seed, copies=1, rate=0.4) for seed in (0, 1))
    both = Outputs.concat([rows, more])
    matches = re.search(
        r"About ([\d,]+) of these 4,000 rows calibrated it", of_selector(both, calibrate(rows, risk=0.1))
    )
    assert int(matches[1].replace(",", "")) == pytest.approx(2000, rel=0.1)  # told by a sample of 1024 of them


def test_the_tests_are_announced_where_there_are_some():
    rows, fresh = (drawn(3000, seed, copies=1, rate=0.4) for seed in (0, 1))
    selector = calibrate(rows, risk=0.1)
    assert "<summary>In full, with the tests</summary>" in of_selector(fresh, selector)
    assert "p = " in of_selector(fresh, selector)
    assert "<summary>In full</summary>" in of_selector(rows, selector)


def test_a_selector_that_rejects_everything_is_described_as_such():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=200)
    rows, fresh = (Outputs(logits=rng.normal(size=(200, 2)) + np.eye(2)[labels], labels=labels) for _ in range(2))
    selector = calibrate(rows, Risk(0.0005, when_impossible="reject_all"))
    evaluation = evaluate(fresh)
    case = PageContext(evaluation, point_of_selector(evaluation, selector), 0.05)
    assert decision_words(case).startswith("Hand every answer to a person: the selector accepts none, whatever its ")
    html = decision(case).html
    assert "None of the fresh rows is accepted, so they cannot test the guarantee." in html
    assert "upper bound" not in html
    assert "0 of 0" not in html
    assert "No answer is accepted: there is no threshold to be near to." in samples(case).html


def test_rows_of_which_none_is_above_the_threshold_are_all_for_a_person():
    selector = calibrate(drawn(3000, 0, copies=1, rate=0.4), risk=0.1)
    low = Outputs(confidences={"a": np.linspace(-2, -1, 50)}, errors=np.arange(50) % 2 == 0)
    evaluation = evaluate(low)
    case = PageContext(evaluation, point_of_selector(evaluation, selector), 0.05)
    assert decision_words(case) == f"Hand every answer to a person: no a is above {selector.threshold.value:.4g}."


def of_selector(rows, selector):
    evaluation = evaluate(rows)
    return decision(PageContext(evaluation, point_of_selector(evaluation, selector), 0.05)).html


def of_risk(rows, risk, **options):
    evaluation = evaluate(rows, **options)
    return PageContext(evaluation, point_of_risk(evaluation, risk=risk, delta=0.05), 0.05)


def test_a_target_out_of_reach_is_named_with_one_within():
    words = decision_words(of_risk(drawn(500, 0, copies=1, rate=0.4), 0.0001))
    assert words.startswith("With these rows no threshold can guarantee at most 0.01% errors among accepted answers;")
    assert "achievable" in words


def test_half_of_the_errors_out_of_reach_is_told_with_what_is_aimed_at():
    rng = np.random.default_rng(0)
    case = of_risk(Outputs(confidences={"a": rng.random(60)}, errors=rng.random(60) < 0.1), None)
    assert 0 < case.point.missed < case.point.target
    assert f"Half of the errors, a risk of {100 * case.point.missed:g}%, cannot be certified" in decision_words(case)
    assert f"aims at {100 * case.point.target:g}%, which can" in decision(case).html


def test_the_only_score_was_not_chosen():
    rows = drawn(3000, 0, copies=1, rate=0.4)
    assert "chosen on these same rows" not in decision(of_risk(rows, 0.1)).html
    assert "The target was chosen on these same rows" in decision(of_risk(rows, None)).html


def test_the_threshold_leads_with_what_the_literature_prints():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=2000)
    rows = Outputs(logits=rng.normal(size=(2000, 3)) + 3 * np.eye(3)[labels], labels=labels)
    case = of_risk(rows, 0.02, scores=["max_softmax"])
    value = case.point.value
    assert f"max_softmax score is above {1 / (1 + np.exp(-value)):.4g}," in decision_words(case)
    assert f"a confidence above {value:.4g}".replace("-", "−") in decision(case).html


def test_a_target_out_of_reach_shows_what_the_achievable_one_would_do_and_never_all_as_accepted():
    case = of_risk(drawn(500, 0, copies=1, rate=0.4), 0.0001)
    limit, value = case.point.achievable.guarantee.limit, case.point.achievable.value
    html = decision(case).html
    assert f"What a risk of {100 * limit:g}% would do, about the lowest achievable" in html
    assert f"<dt>Accepted</dt><dd>{np.mean(case.point.confidence > value):.2%}</dd>" in html
    assert "<dd>100.00%</dd>" not in html


def test_where_nothing_is_achievable_the_tiles_are_dashes():
    rows = Outputs(confidences={"a": np.linspace(0, 1, 20)}, errors=np.arange(20) % 4 == 0)
    html = decision(of_risk(rows, 0.0001)).html
    assert "<dt>Accepted</dt><dd>–</dd>" in html
    assert "<dt>Wrong if all were accepted</dt><dd>25.00%</dd>" in html


def test_that_rows_went_to_fitting_is_told():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=1500)
    features = 2 * np.eye(4)[labels] + rng.normal(size=(1500, 4))
    rows = Outputs(logits=features, labels=labels, features=features, weight=np.eye(4))
    case = of_risk(rows, 0.1, scores=["max_softmax", "energy", "knn"])
    words = decision_words(case)
    assert f"calibrate moves the threshold a little: here are the {case.n:,} left after fitting" in words

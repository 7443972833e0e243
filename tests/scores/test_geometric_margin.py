"""The three forms of RL_geo-M against plain loops."""

import numpy as np
import pytest

import abstain
from abstain import Outputs
from abstain.metrics import aurc
from abstain.scores import SCORES, GeometricMargin, as_score, confidence_margin, geometric_margin, geometric_rule

RNG = np.random.default_rng(0)
WEIGHT, BIAS = RNG.normal(size=(6, 4)) * np.array([[0.3], [1], [1], [2], [1], [4]]), RNG.normal(size=6)
FEATURES = RNG.normal(size=(200, 4))
LOGITS = FEATURES @ WEIGHT.T + BIAS
LABELS = np.where(RNG.random(200) < 0.8, LOGITS.argmax(1), RNG.integers(6, size=200))
LABELS[:9] = -1
OUTPUTS = Outputs(logits=LOGITS, labels=LABELS, features=FEATURES, weight=WEIGHT, bias=BIAS, ids=np.arange(200) % 150)


def by_loops(norms):
    """Signed margin, gap of the top two, and the class of the largest distance."""
    signed, gap, rule = [], [], []
    for row in LOGITS:
        d = [z / norm for z, norm in zip(row, norms, strict=True)]
        y = max(range(6), key=lambda j: row[j])
        signed.append(d[y] - max(d[j] for j in range(6) if j != y))
        gap.append(sorted(d)[-1] - sorted(d)[-2])
        rule.append(max(range(6), key=lambda j: d[j]))
    return np.array(signed), np.array(gap), np.array(rule)


SIGNED, GAP, RULE = by_loops([np.sqrt(sum(w * w for w in row)) for row in WEIGHT])


def test_the_example_is_one_on_which_the_forms_differ():
    assert 0.1 < (LOGITS.argmax(1) != RULE).mean() < 0.9


@pytest.mark.parametrize(("form", "expected"), [("signed", SIGNED), ("top_two", GAP)])
def test_the_forms_agree_with_loops(form, expected):
    np.testing.assert_allclose(geometric_margin(LOGITS, WEIGHT, form=form), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(GeometricMargin(form)(OUTPUTS), expected, rtol=1e-12, atol=1e-14)


def test_with_a_bias_the_norms_are_those_of_both():
    norms = [np.sqrt(sum(w * w for w in row) + b * b) for row, b in zip(WEIGHT, BIAS, strict=True)]
    signed, gap, _ = by_loops(norms)
    np.testing.assert_allclose(geometric_margin(LOGITS, WEIGHT, bias=BIAS), signed, rtol=1e-12, atol=1e-14)
    result = geometric_margin(LOGITS, WEIGHT, bias=BIAS, form="top_two")
    np.testing.assert_allclose(result, gap, rtol=1e-12, atol=1e-14)


def test_the_gap_is_the_size_of_the_signed_margin_where_both_rules_agree():
    same = SIGNED >= 0
    np.testing.assert_allclose(GeometricMargin("top_two")(OUTPUTS)[same], GeometricMargin()(OUTPUTS)[same])
    assert (GAP[~same] > 0).all()


def test_the_geometric_rule_has_its_own_predictions_and_errors():
    result = geometric_rule(OUTPUTS)
    np.testing.assert_array_equal(result.predictions, RULE)
    np.testing.assert_array_equal(result.errors, (RULE != LABELS) | (LABELS < 0))
    np.testing.assert_allclose(confidence_margin(result.logits), GAP, rtol=1e-12, atol=1e-14)
    for form in ("signed", "top_two"):
        np.testing.assert_allclose(GeometricMargin(form)(result), GAP, rtol=1e-12, atol=1e-14)
    assert result.check_head().agrees
    np.testing.assert_array_equal(result.ids, OUTPUTS.ids)


def test_names_with_the_form_are_known_and_the_default_report_has_one():
    assert as_score("geometric_margin(form=top_two)") == GeometricMargin("top_two")
    assert as_score(GeometricMargin("top_two").name) == GeometricMargin("top_two")
    assert [name for name in SCORES if "geometric" in name] == ["geometric_margin"]
    asked = ["geometric_margin", "geometric_margin(form=top_two)"]
    evaluation = abstain.evaluate(OUTPUTS, scores=asked, alphas=(1.0,))
    areas = {row["score"]: row["aurc"] for row in evaluation.rows if row["mix"] == "in+label" or row["mix"] == "in"}
    assert len(areas) == 2
    assert evaluation.best("in").score in areas
    usable = OUTPUTS.errors
    assert aurc(SIGNED, usable) != aurc(GAP, usable)


def test_a_selector_of_the_gap_is_stored_whole(tmp_path):
    selector = abstain.calibrate(OUTPUTS, score="geometric_margin(form=top_two)", coverage=0.5)
    selector.save(tmp_path / "s.abstain")
    again = abstain.Selector.load(tmp_path / "s.abstain")
    np.testing.assert_array_equal(again.accepts(OUTPUTS), selector.accepts(OUTPUTS))
    assert again.score == "geometric_margin(form='top_two')"

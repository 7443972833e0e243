"""A threshold for each class or domain, and targets together, through `calibrate` and the selector's file."""

import numpy as np
import pytest

from abstain import JointRisk, Outputs, Risk, Selector, calibrate
from abstain.evaluation import sketch_outputs
from abstain.selector import calibrate_sketch
from abstain.selector.targets import target_of
from abstain.thresholds import NoSafeThresholdError


def draw(n, seed, spread=(0.7, 1.0, 1.8)):
    """Three classes, the last hardly told from noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    logits = 3 * np.eye(3)[labels] + np.array(spread)[labels][:, None] * rng.normal(size=(n, 3))
    return Outputs(logits=logits, labels=labels, domain=np.where(np.arange(n) % 2 == 0, "even", "odd"))


CAL, NEW = draw(6000, 0), draw(20_000, 1)


@pytest.mark.parametrize("per", ["class", "domain"])
def test_each_group_keeps_the_risk_on_fresh_rows_and_the_file_keeps_the_groups(per, tmp_path):
    selector = calibrate(CAL, Risk(0.1, delta=0.05, per=per))
    selector.save(tmp_path / "s.abstain")
    again = Selector.load(tmp_path / "s.abstain")
    accepted = again.accepts(NEW)
    np.testing.assert_array_equal(accepted, selector.accepts(NEW))
    groups = NEW.predictions if per == "class" else NEW.domain
    for name in np.unique(groups):
        inside = accepted & (groups == name)
        if inside.any():
            assert NEW.errors[inside].mean() <= 0.1 + 3 * np.sqrt(0.09 / inside.sum())
    assert accepted.any()
    assert again.summary() == selector.summary()
    assert "it is so in each group that has a threshold" in selector.summary()


def test_a_class_that_cannot_be_certified_is_always_rejected():
    selector = calibrate(CAL, Risk(0.005, per="class"))
    values = selector.class_values
    assert np.isinf(values[values == np.inf]).any()
    assert np.isfinite(values).any()
    assert not selector.accepts(NEW)[np.isin(NEW.predictions, np.flatnonzero(values == np.inf))].any()


def test_domains_that_calibration_did_not_have_are_rejected_and_counted():
    selector = calibrate(CAL, Risk(0.1, per="domain"))
    other = Outputs(logits=NEW.logits[:4], domain=["even", "new", "new", "odd"])
    assert not selector.accepts(other)[[1, 2]].any()
    assert selector.unseen(other) == {"new": 2}
    with pytest.raises(ValueError, match="`outputs` must have a group for each row"):
        selector.accepts(Outputs(logits=NEW.logits[:4]))


def test_a_domain_may_be_called_a_group():
    called = calibrate(CAL, Risk(0.1, per="group"))
    np.testing.assert_array_equal(called.accepts(NEW), calibrate(CAL, Risk(0.1, per="domain")).accepts(NEW))
    assert called.groups.per == "group"
    counted = sketch_outputs(CAL, scores=["confidence_margin"], by=("domain",))
    assert set(calibrate_sketch(counted, Risk(0.1, per="group")).groups.thresholds) == {"even", "odd"}


def test_unusable_rows_are_no_group():
    z = np.array(CAL.logits)
    z[:5] = np.nan
    outputs = Outputs(logits=z, labels=CAL.labels, nonfinite="reject")
    assert set(calibrate(outputs, Risk(0.1, per="class")).groups.thresholds) == {"0", "1", "2"}
    assert calibrate(outputs, JointRisk(0.2, 0.5, per="class")).threshold.accepted > 0


def test_decisions_are_columns_with_what_is_known():
    selector = calibrate(CAL, risk=0.1)
    columns = selector.decide(NEW)
    assert list(columns) == ["id", "group", "prediction", "confidence", "accepted", "reason", "error"]
    np.testing.assert_array_equal(columns["accepted"], selector.accepts(NEW))
    np.testing.assert_array_equal(columns["error"], NEW.errors)
    assert "error" not in selector.decide(Outputs(logits=NEW.logits))


def test_the_best_of_several_scores_is_chosen_on_other_rows():
    selector = calibrate(CAL, score=["max_logit", "confidence_margin", "max_softmax"], risk=0.1)
    assert selector.threshold.n == 4800
    assert "chosen among 3 scores on other rows" in selector.summary()
    single = calibrate(CAL, score=["max_logit"], risk=0.3)
    assert (single.score, single.threshold.n) == ("max_logit", 6000)


def test_the_rows_that_choose_a_score_fit_it_too():
    chosen = calibrate(CAL, score=["ts_doctor", "ts_neg_entropy"], risk=0.1)
    assert chosen.threshold.n == calibrate(CAL, score="ts_doctor", risk=0.1).threshold.n == 4800


def test_the_first_score_stays_where_another_is_ahead_by_chance_alone():
    rng = np.random.default_rng(0)
    wrong = rng.random(3000) < 0.3
    good = rng.normal(size=3000) - 2 * wrong
    alike = Outputs(
        confidences={name: good + 0.3 * rng.normal(size=3000) for name in ("first", "second")}, errors=wrong
    )
    chosen = [calibrate(alike, score=["first", "second"], risk=0.2, seed=seed).score for seed in range(8)]
    assert chosen.count("first") >= 5
    better = {"first": rng.normal(size=3000), "good": good}
    assert calibrate(Outputs(confidences=better, errors=wrong), score="best", risk=0.2).score == "good"


def test_a_score_that_cannot_be_fitted_is_left_out_of_the_choice():
    logits = 5 * np.eye(3)[np.arange(60) % 3]
    right = Outputs(logits=logits, labels=logits.argmax(1), features=logits)  # delta_knn learns from errors
    assert calibrate(right, score=["delta_knn", "max_softmax"], risk=0.9).score == "max_softmax"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"risk": 0.1, "per": "row"}, "`per` must be class or domain"),
        ({"coverage": 0.5, "per": "class"}, "`per` must come with `risk` and `group_risk` or `risk`, got `coverage`"),
        ({"risk": 0.1, "group_risk": 0.2}, "`group_risk` must come with `per`"),
        ({"risk": 0.1, "per": "class", "method": "sgr"}, "`method` must be one of group_thresholds"),
        ({"risk": 0.1, "score": ["nothing"]}, "`score` must be a known score"),
        ({"risk": 0.1, "score": []}, "`score` must name at least one score"),
        ({"cost": 0.1, "score": ["max_logit", "energy"]}, "`score` must be one name with Cost\\(0.1\\), got 2 scores"),
    ],
)
def test_what_does_not_go_together_is_said(options, message):
    score = options.pop("score", None)
    with pytest.raises(ValueError, match=message):
        calibrate(CAL, target_of(**options), score=score)


def test_thresholds_of_classes_are_keyed_by_their_names(tmp_path):
    named = Outputs(logits=CAL.logits, labels=CAL.labels, class_names=["zero", "one", "last"])
    selector = calibrate(named, Risk(0.1, per="class")).groups.thresholds
    plain = calibrate(CAL, Risk(0.1, per="class")).groups.thresholds
    numbers = {"zero": "0", "one": "1", "last": "2"}
    assert {numbers[key]: each.value for key, each in selector.items()} == {
        key: each.value for key, each in plain.items()
    }
    assert "in the group 'zero'" in selector["zero"].words
    calibrate(named, Risk(0.1, per="class")).save(tmp_path / "s")
    again = Selector.load(tmp_path / "s")
    np.testing.assert_array_equal(again.accepts(CAL), calibrate(CAL, Risk(0.1, per="class")).accepts(CAL))
    np.testing.assert_array_equal(again.class_values, [plain[name].value for name in "012"])
    counted = sketch_outputs(named, scores=["confidence_margin"], by=("class",))
    assert "in the group 'zero'" in calibrate_sketch(counted, Risk(0.1, per="class")).groups.thresholds["zero"].words
    for refused in (calibrate, lambda _, target: calibrate_sketch(counted, target)):
        with pytest.raises(NoSafeThresholdError, match=r"risk [\d.]+ in 'last', which has 1,648 rows"):
            refused(named, Risk(0.0001, per="class"))


def test_targets_out_of_reach_name_pairs():
    with pytest.raises(NoSafeThresholdError, match="cannot be certified together on n=6,000"):
        calibrate(CAL, risk=0.001, coverage=0.9)


def test_a_representation_fits_a_line():
    selector = calibrate(CAL, risk=0.1)
    assert len(repr(selector)) < 150
    assert len(repr(selector.threshold)) < 120


def test_the_best_of_all_may_be_the_learned_one(digits):
    best, few = (calibrate(digits, score=score, risk=0.1, delta=0.1) for score in ("best", "all"))
    assert best.score == "learned" != few.score
    assert "learned was chosen among" in best.summary()
    assert "learned accepts" in best.summary()


def test_the_best_leaves_the_learned_score_out_where_a_fold_has_no_clean_rows():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 500)
    logits = rng.normal(size=(500, 3)) + 3 * np.eye(3)[labels]
    shift = np.where(np.arange(500) < 10, "none", "covariate")
    outputs = Outputs(logits=logits, labels=labels, shift=shift)
    for seed in range(4):
        assert calibrate(outputs, score="best", risk=0.3, delta=0.2, seed=seed).threshold.guarantee is not None

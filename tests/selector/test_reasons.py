"""Why rows are rejected, in words."""

import numpy as np
import pytest

from abstain import Outputs, Risk, Selector, calibrate
from abstain.scores import SIRC, Residual, ViM
from abstain.scores.head import Head
from abstain.scores.inputs import Inputs
from abstain.scores.learned import Learned
from abstain.scores.logit_scores import MaxSoftmax

CENTRES = np.array([[6.0, 0, 0, 0], [0, 6.0, 0, 0], [0, 0, 6.0, 0]])
WEIGHT, BIAS = CENTRES / 6, np.zeros(3)
UNLIKE = "unlike the calibration samples"


def draw(n, seed):
    """Three classes; some rows lie between two of them, some of no class lie far off the plane that the head sees."""
    rng = np.random.default_rng(seed)
    labels, kind = rng.integers(3, size=n), rng.random(n)
    x = CENTRES[labels] + rng.normal(scale=0.7, size=(n, 4))
    between, far = kind < 0.3, kind > 0.75
    x[between] = (CENTRES[labels] + CENTRES[(labels + 1) % 3])[between] / 2 + rng.normal(size=(between.sum(), 4))
    x[far, 3] += 5
    return Outputs(
        logits=x @ WEIGHT.T,
        features=x,
        weight=WEIGHT,
        bias=BIAS,
        labels=np.where(far, -1, labels),
        class_names=("cat", "dog", "owl"),
    )


ROWS = np.array([[9.0, 0, 0, 0.2], [3.0, 3.1, 0, 0.3], [9.0, 0, 0, 9.0], [3.0, 3.1, 0, 0.7], [0, 0, 0, np.nan]])
NEW = Outputs(logits=ROWS @ WEIGHT.T, features=ROWS, weight=WEIGHT, bias=BIAS, nonfinite="reject")


@pytest.mark.parametrize(
    ("score", "reason"),
    [
        ("max_softmax", "ambiguous between dog and cat"),
        ("energy", "ambiguous between dog and cat"),
        ("confidence_margin", "ambiguous between dog and cat"),
        ("knn", UNLIKE),
        ("nci", "low nci"),
    ],
)
def test_a_single_score_says_what_its_family_sees(score, reason):
    selector = calibrate(draw(2000, 0), score=score, coverage=0.01, delta=None)
    result = selector.reasons(NEW)
    assert result[3] == reason
    assert result[4] == "not finite"


HYBRIDS = [SIRC((Residual(dim=3),)), ViM(dim=3)]


@pytest.mark.parametrize("score", HYBRIDS, ids=["sirc", "vim"])
def test_a_hybrid_says_which_of_its_parts_rejects(score):
    selector = calibrate(draw(4000, 0), score=score, coverage=0.3)
    between = "ambiguous between dog and cat"
    assert selector.reasons(NEW)[[0, 1, 2, 4]].tolist() == ["", between, UNLIKE, "not finite"]


def test_the_parts_of_a_hybrid_and_their_means_make_its_confidence():
    outputs = draw(500, 0)
    inputs = Inputs.of(outputs, slice(None), Head(WEIGHT, BIAS))
    for score in HYBRIDS:
        fitted = score.fit(outputs)
        lacks = np.sum(list(fitted.shortfalls(inputs).values()), axis=0)
        total = lacks + fitted(outputs)
        np.testing.assert_allclose(total, total[0])


def test_a_learned_score_says_which_of_its_parts_is_missing(tmp_path):
    selector = calibrate(draw(4000, 0), score=Learned((MaxSoftmax(), Residual(dim=3))), coverage=0.3)
    assert set(selector.fitted.names) == {"max_softmax", "residual(dim=3)"}
    between = "ambiguous between dog and cat"
    assert selector.reasons(NEW).tolist() == ["", between, UNLIKE, f"both: {between}, and {UNLIKE}", "not finite"]
    selector.save(tmp_path / "s.abstain")
    np.testing.assert_array_equal(Selector.load(tmp_path / "s.abstain").reasons(NEW), selector.reasons(NEW))


def test_accepted_rows_and_no_others_have_no_reason():
    selector, outputs = calibrate(draw(2000, 0), coverage=0.6), draw(500, 1)
    decisions = selector.decide(outputs)
    np.testing.assert_array_equal(decisions["reason"] == "", decisions["accepted"])


def test_a_group_without_a_threshold_is_the_reason():
    labels = np.arange(2000) % 3
    logits = 4 * np.eye(3)[labels] + np.random.default_rng(0).normal(size=(2000, 3))
    outputs = Outputs(logits=logits, labels=labels, domain=np.where(np.arange(2000) % 2, "a", "b"))
    selector = calibrate(outputs, Risk(0.05, per="domain"))
    new = Outputs(logits=np.eye(3) * 9, domain=np.array(["a", "b", "c"]))
    assert selector.reasons(new).tolist() == ["", "", "no threshold is certified for it"]


def test_a_confidence_that_was_given_is_named():
    rng = np.random.default_rng(0)
    outputs = Outputs(confidences={"vendor": rng.random(400)}, errors=rng.random(400) < 0.1)
    selector = calibrate(outputs, score="vendor", coverage=0.5)
    assert set(selector.reasons(outputs)) == {"", "low vendor"}


def test_predictions_have_the_names_that_reasons_have_and_numbers_without():
    selector = calibrate(draw(2000, 0), score="max_softmax", coverage=0.01, delta=None)
    assert selector.decide(NEW)["prediction"].tolist() == ["cat", "dog", "cat", "dog", "-1"]
    own = Outputs(logits=NEW.logits[:4], class_names=("Katze", "Hund", "Eule"))
    result = selector.decide(own)
    assert (result["prediction"][1], result["reason"][1]) == ("Hund", "ambiguous between Hund and Katze")
    rows = draw(2000, 0)
    nameless = calibrate(Outputs(logits=rows.logits, labels=rows.labels), coverage=0.5)
    assert nameless.decide(NEW)["prediction"].tolist() == [0, 1, 0, 1, -1]

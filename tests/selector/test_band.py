"""The bands of a selector of two classes agree with what it decides, row by row."""

import numpy as np
import pytest

from abstain import Cost, MissRate, Outputs, Risk, calibrate, certify
from abstain.selector.band import Band, band
from abstain.thresholds import NoSafeThresholdError


def scored(seed, n=6000):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.05).astype(int)
    p = 1 / (1 + np.exp(-rng.normal(5 * y - 4, 1.8)))
    return Outputs(probabilities=np.column_stack([1 - p, p]), labels=y, class_names=("ok", "fraud"))


HELD_OUT, FRESH = scored(0), scored(1)
P = np.exp(FRESH.logits[:, 1])
TARGETS = [
    Risk(0.01),
    Risk(0.05, per="class"),
    MissRate({"fraud": 0.1}),
    MissRate({"fraud": 0.1, "ok": 0.002}),
    Cost(5, costs=[[0, 100], [10, 0]]),
]


@pytest.mark.parametrize("target", TARGETS, ids=repr)
@pytest.mark.parametrize("score", ["max_softmax", "neg_entropy", "confidence_margin"])
def test_the_bands_are_what_is_decided(target, score):
    is_cost = isinstance(target, Cost)
    selector = calibrate(HELD_OUT, target, score=None if is_cost else score)
    edges, answers = band(selector), selector.answers(FRESH)
    first = np.zeros(len(P)) if edges.first is None else np.less(P, edges.first)
    second = np.zeros(len(P)) if edges.second is None else np.greater(P, edges.second)
    assert np.array_equal(first, np.equal(answers, 0))
    assert np.array_equal(second, np.equal(answers, 1))


def test_the_summary_prints_the_bands():
    words = calibrate(HELD_OUT, miss_rate={"fraud": 0.1, "ok": 0.002}).summary()
    assert "That is: ok below 0." in words
    assert "review between, fraud above 0." in words
    assert "among rows of the true class fraud is at most 0.1" in words


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (Band(0.0071, 0.75), "ok below 0.0071, review between, fraud above 0.75"),
        (Band(0.5, 0.5), "ok below 0.5, fraud above 0.5"),
        (Band(0.2, None), "ok below 0.2, review everything else"),
        (Band(None, 0.99994), "review everything else, fraud above 0.99994"),
    ],
)
def test_bands_in_words(edges, words):
    assert edges.words(("ok", "fraud")) == f"{words} (probability of fraud)"


def test_a_selector_that_accepts_nothing_has_no_bands():
    target = Risk(1e-6, when_impossible="reject_all")
    words = calibrate(HELD_OUT, target).summary()
    assert words.startswith("Accept no row. Guarantee by reject_all")


def test_scores_that_need_more_than_the_probability_have_no_bands():
    sized = Outputs(logits=np.column_stack([-P, P]), labels=FRESH.labels)
    assert band(calibrate(sized, coverage=0.5, score="max_logit")) is None
    three = Outputs(logits=np.random.default_rng(0).normal(size=(500, 3)), labels=np.zeros(500, dtype=int))
    assert band(calibrate(three, coverage=0.5)) is None


def test_fresh_rows_test_a_miss_rate():
    selector = calibrate(HELD_OUT, miss_rate={"fraud": 0.1})
    (test,) = certify(selector, FRESH).fresh.tests
    missed = selector.accepts(FRESH) & FRESH.errors & (FRESH.labels == 1)
    assert (test.result.trials, test.result.events) == ((FRESH.labels == 1).sum(), missed.sum())
    swapped = Outputs(logits=FRESH.logits, labels=np.where(P < 0.01, 1, 0), class_names=("ok", "fraud"))
    assert certify(selector, swapped).verdict == "refuted"


def test_showing_a_selector_scores_nothing(monkeypatch):
    selector = calibrate(HELD_OUT, risk=0.01)
    monkeypatch.setattr("abstain.selector.selector.band", None)
    assert "at most 0.01" in selector._repr_html_()


def test_too_few_rows_of_a_class_name_it():
    with pytest.raises(NoSafeThresholdError, match=r"miss rate of class fraud at 0\.01 on"):
        calibrate(scored(2, n=500), miss_rate={"fraud": 0.01})

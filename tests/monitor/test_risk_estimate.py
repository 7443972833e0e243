"""The result of `estimate_risk`: what it counts, what it estimates, and what it says of itself."""

import json

import numpy as np
import pytest

import abstain
from abstain import Outputs, Risk, calibrate, estimate_risk
from abstain.datasets import digits
from abstain.monitor import RISK_METHODS


@pytest.fixture(scope="module")
def rows():
    return digits()


@pytest.fixture(scope="module")
def clean(rows):
    return rows[rows.domain == "clean"]


@pytest.fixture(scope="module")
def selector(clean):
    return calibrate(clean, risk=0.02, score="max_softmax")


@pytest.fixture(scope="module")
def noisy(rows):
    return rows[rows.domain == "noise"]


@pytest.fixture(scope="module")
def estimate(selector, noisy, clean):
    return estimate_risk(selector, noisy, reference=clean)


def test_coverage_is_counted_and_the_reference_observed(estimate, selector, noisy, clean):
    assert estimate.coverage == selector.accepts(noisy).mean()
    accepted = selector.accepts(clean)
    assert estimate.reference.coverage == accepted.mean()
    assert estimate.reference.risk == pytest.approx(clean.errors[accepted].mean())
    assert estimate.reference.accuracy == pytest.approx(1 - clean.errors.mean())


def test_every_method_is_there_and_the_spread_is_between_them(estimate):
    assert [each.method for each in estimate.estimates] == list(RISK_METHODS)
    risks = [each.risk for each in estimate.estimates]
    assert estimate.spread == (min(risks), max(risks))
    assert estimate.risk == risks[0]
    assert estimate.accuracy == estimate.estimates[0].accuracy


def test_the_words_call_it_an_estimate(estimate):
    assert "an estimate, not a guarantee" in repr(estimate)
    assert "An estimate, not a guarantee" in estimate.summary()
    assert "that the selector guarantees for rows like its calibration" in estimate.summary()
    assert json.loads(json.dumps(estimate.to_dict()))["guarantee"] is False


def test_labels_of_the_new_rows_are_not_read(estimate, selector, noisy, clean):
    hidden = Outputs(logits=noisy.logits, features=noisy.features, weight=noisy.weight, bias=noisy.bias, ids=noisy.ids)
    assert estimate_risk(selector, hidden, reference=clean) == estimate


def test_the_first_method_asked_for_is_the_headline(selector, noisy, clean, estimate):
    few = estimate_risk(selector, noisy, reference=clean, methods=["doc", "cbpe"])
    assert few.method == "doc"
    assert set(few.estimates) <= set(estimate.estimates)


def test_non_finite_rows_are_never_right(selector, noisy, clean, estimate):
    logits = np.concatenate([noisy.logits, np.full((len(noisy), noisy.n_classes), np.nan)])
    twice = Outputs(logits=logits, ids=np.r_[noisy.ids, noisy.ids], nonfinite="reject")
    half = estimate_risk(selector, twice, reference=clean)
    assert half.coverage == estimate.coverage / 2
    assert half.accuracy == pytest.approx(estimate.accuracy / 2)
    assert half.risk == pytest.approx(estimate.risk)


def test_confidences_alone_are_enough_for_most_methods():
    rng = np.random.default_rng(0)
    c, d = rng.random(2000), rng.random(2000) ** 2
    known = Outputs(confidences={"vendor": c}, errors=rng.random(2000) > c)
    selector = calibrate(known, coverage=0.8)
    result = estimate_risk(selector, Outputs(confidences={"vendor": d}), reference=known)
    assert set(result.left_out) == {"doc", "mano"}
    risk = {each.method: each.risk for each in result.estimates}["cbpe"]
    accepted = d > selector.threshold.value
    assert risk == pytest.approx((1 - d[accepted]).mean(), abs=0.04)
    assert result.target is None


def test_graded_losses_are_averaged():
    rng = np.random.default_rng(0)
    c = rng.random(3000)
    known = Outputs(confidences={"judge": c}, losses=(1 - c) / 2)
    selector = calibrate(Outputs(confidences={"judge": c}, errors=c < 0.1), coverage=0.8)
    new = c**2
    result = estimate_risk(selector, Outputs(confidences={"judge": new}), reference=known, methods=["cbpe"])
    assert result.risk == pytest.approx((1 - new[new > selector.threshold.value]).mean() / 2, abs=0.01)
    assert "Mean loss of accepted answers about" in result.summary()
    assert "ccuracy" not in result.summary()


def test_thresholds_per_group_are_respected(rows):
    kept = rows[np.isin(rows.domain, ["clean", "noise", "tilt"])]
    selector = calibrate(kept, Risk(0.1, per="group"))
    noisy = kept[kept.domain == "noise"]
    assert estimate_risk(selector, noisy, reference=kept).accepted == selector.accepts(noisy).sum()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s, new, old: estimate_risk(s, new.logits, reference=old), "`unlabelled` must be Outputs"),
        (lambda _, new, old: estimate_risk("s", new, reference=old), "`selector` must be a Selector, got str"),
        (lambda s, new, old: estimate_risk(s, new, reference=old, methods=["act"]), r"got 'act'\. Did you mean atc\?"),
        (lambda s, new, old: estimate_risk(s, new, reference=old, methods=[]), "`methods` must be a list of names"),
        (
            lambda s, new, old: estimate_risk(s, new, reference=Outputs(logits=old.logits)),
            "`reference` must have labels to learn how often rows are wrong from, got none",
        ),
        (
            lambda s, new, old: estimate_risk(s, Outputs(logits=new.logits * 0), reference=old),
            "`unlabelled` must have rows that the selector accepts, .* all of them rejected",
        ),
    ],
)
def test_what_cannot_be_estimated_is_an_error(selector, noisy, clean, call, message):
    with pytest.raises((abstain.errors.AbstainError, ValueError), match=message):
        call(selector, noisy, clean)

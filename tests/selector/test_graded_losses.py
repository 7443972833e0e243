"""A selector for graded answers, from calibration to fresh rows and labels after an alarm."""

import numpy as np
import pytest

import abstain
from abstain.errors import InvalidInputError
from abstain.selector import Recertification
from abstain.selector.certificate import Certificate
from abstain.selector.certify import certify
from abstain.thresholds import Quantity
from abstain.thresholds.refutation import refutation


def graded(seed, n, *, worse=1.0):
    rng = np.random.default_rng(seed)
    u = rng.random(n)
    losses = np.minimum(worse * (0.01 + 0.45 * u**2) * 2 * rng.random(n), 1.0)
    groups = rng.choice(["x", "y"], n)
    return abstain.Outputs(confidences={"a": 1 - u, "b": rng.random(n)}, losses=losses, domain=groups)


@pytest.fixture(scope="module")
def selector():
    return abstain.calibrate(graded(0, 1500), score="a", risk=0.05, delta=0.1)


def test_the_guarantee_is_about_the_mean_loss_and_keeps_it(selector):
    assert selector.threshold.guarantee.quantity is Quantity.LOSS
    fresh = graded(1, 20_000)
    accepted = selector.accepts(fresh)
    assert accepted.mean() > 0.4
    assert fresh.losses[accepted].mean() <= 0.05


def test_every_target_of_a_risk_speaks_of_losses():
    rows = graded(2, 2000)
    targets = [abstain.Risk(0.06, per="group"), abstain.RiskAndCoverage(risk=0.08, coverage=0.4)]
    for target in targets:
        guarantee = abstain.calibrate(rows, target, score="a").threshold.guarantee
        assert "the mean loss" in str(guarantee)
        assert "error" not in str(guarantee)


def test_fresh_losses_confirm_a_kept_guarantee_and_refute_a_broken_one(selector):
    kept, broken = certify(selector, graded(3, 3000)), certify(selector, graded(4, 3000, worse=3.0))
    assert (kept.verdict, broken.verdict) == ("confirmed", "refuted")
    words = kept.summary()
    assert "mean loss" in words
    assert "wrong" not in words
    assert Certificate.from_json(kept.to_json()).to_json() == kept.to_json()


def test_a_kept_mean_loss_is_seldom_refuted_and_an_upper_bound_seldom_too_low():
    """Losses of mean exactly the limit, of which most are small and one in fifty is 1."""
    refuted, low = 0, 0
    for run in range(400):
        rng = np.random.default_rng(run)
        losses = np.where(rng.random(300) < 0.02, 1.0, (0.05 - 0.02) / 0.98)
        result = refutation(losses, np.ones(300, dtype=bool), limit=0.05, level=0.1, delta=0.1)
        refuted, low = refuted + (result.verdict == "refuted"), low + (result.high < 0.05)
    assert refuted / 400 <= 0.1 + 3 * np.sqrt(0.09 / 400)
    assert low / 400 <= 0.1 + 3 * np.sqrt(0.09 / 400)


def test_fresh_losses_do_not_test_a_guarantee_about_errors():
    rng = np.random.default_rng(0)
    u = rng.random(1000)
    rows = abstain.Outputs(confidences={"a": 1 - u, "b": u}, errors=rng.random(1000) < 0.3 * u**2)
    of_errors = abstain.calibrate(rows, score="a", risk=0.1)
    with pytest.raises(InvalidInputError, match="about errors, got graded losses"):
        certify(of_errors, graded(5, 500))


def test_labels_after_an_alarm_may_be_losses(selector):
    new = graded(6, 4000)
    confidence, ids = new.confidence("a"), np.arange(4000)
    again = Recertification.of(selector).ask(confidence, ids, labels=320)
    again = again.answer(again.pending, new.losses[np.array(again.pending).astype(int)])
    assert again.threshold is not None
    assert again.threshold.guarantee.quantity is Quantity.LOSS
    assert Recertification.from_json(again.to_json()) == again


def test_decisions_have_a_column_of_losses(selector):
    decided = selector.decide(graded(7, 50))
    assert "loss" in decided
    assert "error" not in decided


def test_the_page_of_graded_answers_speaks_of_losses(tmp_path):
    pytest.importorskip("altair")
    evaluation = abstain.evaluate(graded(8, 600))
    evaluation.to_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "Mean loss among the accepted" in text
    assert "The share of errors" not in text

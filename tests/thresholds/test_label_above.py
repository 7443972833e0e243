"""Labels above a floor alone: as much is certified as with all of them, and the guarantee holds."""

from math import sqrt

import numpy as np
import pytest

from abstain import Outputs, Risk, calibrate
from abstain.selector.targets import target_of
from abstain.thresholds import NoSafeThresholdError, label_floor, labelled_above, step_down

RISK, DELTA, N, RUNS = 0.05, 0.1, 600, 300


def just_above(u):
    """Whatever is accepted breaks the target."""
    return np.full_like(u, RISK + 1e-3)


def steep(u):
    """Hardly any errors above the floor and mostly errors below it."""
    return np.where(u < 0.6, 0.01, 0.8)


def share_broken(rule, rate):
    broken = 0
    for run in range(RUNS):
        rng = np.random.default_rng([run, 4])
        u = rng.random(N)
        floor = label_floor(1 - u, share=0.6)
        losses = np.where(1 - u > floor, rng.random(N) < rate(u), np.nan)
        try:
            coverage = min(1 - rule(1 - u, losses, floor).value, 1.0)
        except NoSafeThresholdError:
            continue
        positions = np.linspace(0, coverage, 2000)
        broken += bool(rate(positions).mean() > RISK)
    return broken / RUNS


def test_the_risk_is_kept_with_labels_above_the_floor_alone():
    allowed = DELTA + 3 * sqrt(DELTA * (1 - DELTA) / RUNS)
    for rate in (just_above, steep):
        assert share_broken(lambda c, e, f: labelled_above(c, e, floor=f, risk=RISK, delta=DELTA), rate) <= allowed


def test_rows_without_a_label_taken_for_right_break_it():
    assert share_broken(lambda c, e, _: step_down(c, np.nan_to_num(e), risk=RISK, delta=DELTA), steep) > 0.5


@pytest.mark.parametrize("n", [400, 3000])
def test_as_much_is_certified_as_with_every_label(n):
    """Where that lies above the floor, which is not before the labels are; four tenths of them are saved."""
    same = 0
    for run in range(20):
        rng = np.random.default_rng([run, 5])
        u = rng.random(n)
        e = (rng.random(n) < 0.005 + 0.45 * u**2).astype(float)
        floor = label_floor(1 - u, share=0.6)
        try:
            threshold = step_down(1 - u, e, risk=RISK, delta=DELTA)
        except NoSafeThresholdError:
            continue
        above = labelled_above(1 - u, np.where(1 - u > floor, e, np.nan), floor=floor, risk=RISK, delta=DELTA)
        assert above.value == threshold.value
        same += 1
    assert same > 5


def test_nothing_at_or_below_the_floor_is_accepted():
    c = np.linspace(1, 0, 400)
    threshold = labelled_above(c, np.where(c > 0.25, 0.0, np.nan), floor=0.25, risk=RISK)
    assert threshold.value >= 0.25
    assert "with confidence above 0.25 count" in str(threshold)


def test_a_floor_has_the_share_above_it():
    c = np.random.default_rng(0).random(1000)
    assert np.count_nonzero(c > label_floor(c, share=0.3)) == 300
    assert label_floor(c, share=1.0) == -np.inf
    with pytest.raises(ValueError, match="`share` must be above 0"):
        label_floor(c, share=0.0)
    with pytest.raises(ValueError, match="`floor` must be below the highest confidence"):
        labelled_above(c, c, floor=2.0, risk=RISK)


def test_a_selector_ignores_labels_below_the_floor():
    rng = np.random.default_rng(1)
    u = rng.random(1500)
    wrong = rng.random(1500) < 0.3 * u**2
    all_labels = calibrate(Outputs(confidences={"c": 1 - u}, errors=wrong), risk=RISK)
    some = Outputs(confidences={"c": 1 - u}, errors=np.where(u < 0.7, wrong, rng.random(1500) < 0.5))
    assert calibrate(some, Risk(RISK, label_above=0.3)).threshold.value == all_labels.threshold.value
    with pytest.raises(ValueError, match="`label_above` must come with `risk`, got `coverage`"):
        target_of(coverage=0.5, label_above=0.3)
    with pytest.raises(ValueError, match="`label_above` must come without `per` and `method`, got method='sgr'"):
        Risk(RISK, label_above=0.3, method="sgr")
    fitted = Outputs(logits=rng.normal(size=(60, 3)), features=rng.normal(size=(60, 4)), labels=np.arange(60) % 3)
    with pytest.raises(ValueError, match="`label_above` must come with one score that needs no fitting"):
        calibrate(fitted, Risk(RISK, label_above=0.3), score="knn")


def test_a_floor_of_nan_is_refused_by_name():
    with pytest.raises(ValueError, match=r"`floor` must be a confidence, got NaN\."):
        labelled_above([0.1, 0.9], [0, 1], floor=float("nan"), risk=0.1)

import numpy as np
import pytest

from abstain.thresholds import (
    NoSafeThresholdError,
    betting,
    bonferroni,
    conformal_joint,
    conformal_selection,
    empirical_without_guarantee,
    sgr,
    step_down,
    target_coverage,
)

C, E = np.linspace(0, 1, 50), np.zeros(50)


@pytest.mark.parametrize("rule", [step_down, betting, sgr, bonferroni])
def test_an_unreachable_target_says_what_would_do(rule):
    with pytest.raises(NoSafeThresholdError, match=r"on n=\d+ calibration samples. At least 299 accepted samples"):
        rule(C, E, risk=0.01, delta=0.05)


@pytest.mark.parametrize("rule", [step_down, betting, sgr, bonferroni])
def test_all_wrong_is_never_accepted(rule):
    with pytest.raises(NoSafeThresholdError, match="No threshold certifies"):
        rule(np.arange(1000.0), np.ones(1000), risk=0.2)


def test_a_threshold_tells_its_promise():
    threshold = step_down(np.random.default_rng(0).random(2000), np.zeros(2000), risk=0.01, delta=0.05)
    assert "at most 0.01, with probability at least 0.95 over the calibration sample" in threshold.words
    assert str(threshold).startswith("accept iff confidence > ")
    assert str(threshold).endswith(threshold.words)
    assert threshold.promise.certified <= 0.01


def test_nan_is_never_accepted_and_ties_stay_together():
    threshold = target_coverage([1.0, 2.0, 2.0, 3.0], coverage=0.5)
    assert threshold.accepts([np.nan, 2.0, 1.0, np.inf]).tolist() == [False, True, False, True]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: step_down(C, E, risk=0), "`risk` must be between 0 and 1"),
        (lambda: step_down(C, E, risk=0.1, delta=1), "`delta` must be between 0 and 1"),
        (lambda: step_down(C, E, risk=0.1, ids=[1]), "`ids` must have shape"),
        (lambda: step_down(C, E[:3], risk=0.1), "must be of one length"),
        (lambda: sgr(C, E + 0.5, risk=0.1), "`losses` must be 0 or 1 for sgr"),
        (lambda: bonferroni(C, E, risk=0.1, points=0), "`points` must be at least 1"),
        (lambda: conformal_selection(C, E + 0.5, C, risk=0.1), "`losses` must be 0 or 1"),
        (lambda: conformal_selection(C, E, [], risk=0.1), "`test_confidence` must have shape"),
        (lambda: target_coverage([], coverage=0.5), "`confidence` must have shape"),
        (lambda: target_coverage([np.nan], coverage=0.5), "no NaN"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_other_unreachable_targets():
    with pytest.raises(NoSafeThresholdError, match="Calibrate on at least 99"):
        target_coverage(C, coverage=0.99)
    with pytest.raises(NoSafeThresholdError, match="Calibrate on at least 99"):
        conformal_joint(C, E, risk=0.01)
    with pytest.raises(NoSafeThresholdError, match="for this batch of 50"):
        conformal_selection(C, np.ones(50), C, risk=0.1)
    with pytest.raises(NoSafeThresholdError, match="even on the calibration sample"):
        empirical_without_guarantee(C, np.ones(50), risk=0.1)

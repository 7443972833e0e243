import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain.thresholds import (
    NoSafeThresholdError,
    betting,
    bonferroni,
    conformal_joint,
    conformal_selection,
    empirical_without_guarantee,
    joint_risk,
    risk_and_coverage,
    sgr,
    step_down,
    target_coverage,
    target_risk,
)
from abstain.thresholds.refusal import lowest_achievable

C, E = np.linspace(0, 1, 50), np.zeros(50)


@pytest.mark.parametrize("rule", [step_down, betting, sgr, bonferroni])
def test_an_unreachable_target_says_what_would_do(rule):
    with pytest.raises(
        NoSafeThresholdError, match=r"on n=\d+ calibration rows\. .* at least 299 that are accepted without an error"
    ):
        rule(C, E, risk=0.01, delta=0.05)


def test_a_refusal_is_three_sentences_and_leads_with_what_was_asked():
    """With rows enough, how many are needed at least is not the problem and not said."""
    rng = np.random.default_rng(0)
    confidence = rng.random(2700)
    with pytest.raises(NoSafeThresholdError) as info:
        step_down(confidence, rng.random(2700) < 0.08 + 0.3 * (1 - confidence) ** 2, risk=0.02)
    asked, result, advice = str(info.value.explained()).split(". ")
    assert asked == "No threshold certifies risk <= 0.02 with probability 0.95 on n=2,700 calibration rows"
    assert result.startswith("Achievable: risk 0.0")
    assert advice.startswith("More rows hardly help")
    assert "149" not in str(info.value.explained())
    assert len(str(info.value.explained())) < 400


def test_what_is_achievable_survives_a_process():
    with pytest.raises(NoSafeThresholdError) as info:
        step_down(C, E, risk=0.01)
    again = pickle.loads(pickle.dumps(info.value))
    assert again.achievable == info.value.achievable != ()
    assert again.lowest_risk == info.value.lowest_risk


@pytest.mark.parametrize("rule", [step_down, betting, sgr, bonferroni])
def test_all_wrong_is_never_accepted(rule):
    with pytest.raises(NoSafeThresholdError, match="No threshold certifies"):
        rule(np.arange(1000.0), np.ones(1000), risk=0.2)


@pytest.mark.parametrize("largest", ["3", 2.5, 0, True])
def test_the_largest_cluster_is_an_integer(largest):
    with pytest.raises(ValueError, match=r"`largest` must be an integer of at least 1, got"):
        target_risk(np.linspace(0, 1, 20), np.zeros(20), risk=0.1, ids=np.arange(20) // 2, largest=largest)


def test_the_smallest_of_risks_is_out_of_reach_and_no_overflow():
    with pytest.raises(NoSafeThresholdError):
        step_down(np.linspace(0, 1, 200), np.zeros(200), risk=5e-324)


def test_a_threshold_tells_its_guarantee():
    threshold = step_down(np.random.default_rng(0).random(2000), np.zeros(2000), risk=0.01, delta=0.05)
    assert "at most 0.01, with probability at least 0.95 over the calibration sample" in threshold.words
    assert str(threshold).startswith("accept iff confidence > ")
    assert str(threshold).endswith(threshold.words)
    assert threshold.guarantee.certified <= 0.01


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


@given(
    seed=st.integers(0, 10_000), n=st.integers(40, 400), method=st.sampled_from([step_down, betting, sgr, bonferroni])
)
@settings(max_examples=40, deadline=None)
def test_the_risk_in_reach_is_certified_when_asked_for_as_printed(seed, n, method):
    rng = np.random.default_rng(seed)
    confidence = rng.random(n)
    errors = rng.random(n) < 0.5 * (1 - confidence)
    with pytest.raises(NoSafeThresholdError, match="No threshold certifies") as info:
        method(confidence, errors, risk=0.001)
    assert info.value.achievable[0].risk == info.value.lowest_risk
    for row in info.value.achievable:
        result = method(confidence, errors, risk=row.risk, delta=row.delta)
        assert result.accepted / result.n == row.coverage
        assert f"risk {row.risk:g}" in str(info.value.explained())


def test_the_risk_in_reach_does_not_depend_on_the_one_asked_for():
    rng = np.random.default_rng(0)
    confidence = rng.random(500)
    errors = rng.random(500) < 0.5 * (1 - confidence)
    reached = set()
    for risk in (0.0005, 0.0011, 0.002, 0.0037):
        with pytest.raises(NoSafeThresholdError, match="No threshold certifies") as info:
            step_down(confidence, errors, risk=risk)
        reached.add(info.value.lowest_risk)
    assert len(reached) == 1


def test_where_the_score_is_bad_more_rows_are_not_advised():
    rng = np.random.default_rng(0)
    with pytest.raises(NoSafeThresholdError, match=r"with probability 0\.95 on") as info:
        step_down(rng.random(3000), rng.random(3000) < 0.2, risk=0.05)
    message = re.search(
        r"More rows hardly help, as accepting 10% of the rows or more has a risk of at least ([\d.]+) here:",
        str(info.value.explained()),
    )
    assert 0.05 < float(message[1]) < 0.21
    assert "plan" not in str(info.value.explained())


def test_the_lowest_risk_that_is_said_does_not_depend_on_the_one_asked_for():
    rng = np.random.default_rng(0)
    confidence = rng.random(3000)
    errors = rng.random(3000) < 0.1 + 0.3 * (1 - confidence)
    said = set()
    for risk in (0.001, 0.005, 0.02, 0.05):
        with pytest.raises(NoSafeThresholdError) as info:
            step_down(confidence, errors, risk=risk)
        said.add(str(info.value.explained()).split("More rows hardly help")[1])
    assert len(said) == 1


@pytest.mark.parametrize("wrong", [0.01, 0.04])
def test_where_a_sample_is_small_more_rows_are_advised(wrong):
    errors = np.arange(150) < 150 * wrong  # one or six of 150, the least trusted or by chance
    with pytest.raises(NoSafeThresholdError, match=r"plan --risk 0\.02 .* chosen on these") as info:
        step_down(np.arange(150.0) if wrong < 0.02 else np.zeros(150), errors, risk=0.02)
    assert "hardly" not in str(info.value.explained())


def test_a_larger_delta_is_named_where_it_is_enough():
    confidence, errors = np.linspace(0, 1, 40), np.zeros(40)
    with pytest.raises(NoSafeThresholdError) as info:
        step_down(confidence, errors, risk=0.05, delta=0.01)
    assert "risk 0.05 with delta 0.2 at coverage 1" in str(info.value.explained())
    assert info.value.lowest_risk > 0.05


@pytest.mark.parametrize("rule", [step_down, betting, sgr, bonferroni])
def test_where_no_risk_is_left_to_try_the_message_still_is_one_line(rule):
    with pytest.raises(NoSafeThresholdError) as result:
        rule(np.arange(4.0), [1, 1, 1, 1], risk=0.99)
    assert "No risk below 1 is achievable" in str(result.value.explained())
    assert "\n" not in str(result.value.explained())


def test_a_risk_of_nearly_one_beside_a_second_target_is_told_too():
    with pytest.raises(NoSafeThresholdError) as info:
        risk_and_coverage(np.arange(4.0), [1, 1, 1, 1], risk=0.99, coverage=0.5)
    assert "No risk below 1 is achievable" in str(info.value.explained())
    with pytest.raises(NoSafeThresholdError) as info:
        joint_risk(np.arange(4.0), [1, 1, 1, 1], [0, 1, 0, 1], risk=0.99, group_risk=0.99)
    assert "No risk below 1 is achievable with both" in str(info.value.explained())


def test_printing_an_error_searches_nothing():
    searches = []
    error = NoSafeThresholdError("None.", advice="Label more.", delta=0.1, search=lambda: searches.append(1) or ())
    assert (str(error), repr(error), error.args) == (
        "None. Label more.",
        "NoSafeThresholdError('None. Label more.')",
        ("None. Label more.",),
    )
    assert searches == []
    assert error.achievable == ()
    assert str(error.explained()) == "None. No risk below 1 is achievable. Label more."
    assert searches == [1]


@pytest.mark.parametrize("seed", range(5, 15))
def test_the_joint_risk_told_to_be_in_reach_is_certified_when_asked_for(seed):
    rng = np.random.default_rng(seed)
    c, groups = rng.normal(size=200), np.arange(200) % 2
    errors = (rng.random(200) < 0.2 / (1 + np.exp(c))).astype(float)
    with pytest.raises(NoSafeThresholdError) as result:
        joint_risk(c, errors, groups, risk=0.01, group_risk=0.02)
    words = str(result.value.explained())
    overall, each = re.search(
        r"Achievable together: risk ([\d.]+) overall and ([\d.]+) in every group\.", words
    ).groups()
    assert float(each) / 2 <= float(overall) < float(each) / 2 + 0.01
    assert joint_risk(c, errors, groups, risk=float(overall), group_risk=float(each)).accepted


@pytest.mark.parametrize("guess", [None, 0.03, 0.046, 0.047, 0.057, 0.9])
def test_the_lowest_achievable_risk_does_not_depend_on_the_guess(guess):
    assert lowest_achievable(lambda risk: risk >= 0.046, 0.002, guess=guess) == 0.046
    assert lowest_achievable(lambda _: True, 0.01, guess=guess) == 0.011


def test_a_risk_lower_than_the_achievable_one_is_not_certified():
    with pytest.raises(NoSafeThresholdError) as info:
        step_down(np.linspace(0, 1, 64), np.zeros(64), risk=0.002)
    lowest = info.value.lowest_risk
    step_down(np.linspace(0, 1, 64), np.zeros(64), risk=lowest)
    with pytest.raises(NoSafeThresholdError):
        step_down(np.linspace(0, 1, 64), np.zeros(64), risk=round(lowest - 0.001, 3))

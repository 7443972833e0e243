"""Every promise is kept in simulation, on three laws; the naive rule breaks the same ones."""

import re
import sys
from contextlib import suppress
from math import sqrt

import numpy as np
import pytest

from abstain.thresholds import (
    NoSafeThresholdError,
    bonferroni,
    conformal_joint,
    conformal_selection,
    empirical_without_guarantee,
    fixed_sequence,
    group_thresholds,
    minimal_cost,
    sgr,
    target_coverage,
    target_tpr,
    weighted_fixed_sequence,
)

module = sys.modules[fixed_sequence.__module__]
RISK, DELTA, N, RUNS = 0.05, 0.1, 2000, 200
GRID = (np.arange(200_000) + 0.5) / 200_000  # share of samples more trusted

LAWS = {
    "monotone": lambda t: 0.01 + 0.3 * t**2,
    "confident errors": lambda t: np.where(t < 0.02, 0.4, 0.01 + 0.25 * t**2),
    "flat just above": lambda t: np.full_like(t, 0.0501),
}
RISKS = {name: np.cumsum(law(GRID)) / np.arange(1, len(GRID) + 1) for name, law in LAWS.items()}


def draw(law, rng, n=N):
    t = rng.random(n)
    return 1 - t, (rng.random(n) < LAWS[law](t)).astype(float)


def true_risk(law, threshold):
    """Coverage and risk of the rule on the law itself."""
    coverage = min(1 - threshold.value, 1.0)
    place = min(int(coverage * len(GRID)), len(GRID)) - 1
    return coverage, RISKS[law][place] if place >= 0 else 0.0


def simulate(rule, law, seed=0, runs=RUNS):
    rng = np.random.default_rng(seed)
    violations, coverages = 0, []
    for run in range(runs):
        try:
            threshold = rule(*draw(law, rng), run)
        except NoSafeThresholdError:
            coverages.append(0.0)
            continue
        coverage, risk = true_risk(law, threshold)
        coverages.append(coverage)
        violations += risk > RISK
    return violations / runs, np.mean(coverages)


RULES = {
    "fixed_sequence": lambda c, e, run: fixed_sequence(c, e, risk=RISK, delta=DELTA, seed=run),
    "fixed_sequence, unlabelled pool": lambda c, e, run: fixed_sequence(
        c, e, risk=RISK, delta=DELTA, unlabelled=np.random.default_rng([run, 7]).random(2000)
    ),
    "sgr": lambda c, e, _: sgr(c, e, risk=RISK, delta=DELTA),
    "bonferroni": lambda c, e, _: bonferroni(c, e, risk=RISK, delta=DELTA),
}
ALLOWED = DELTA + 3 * sqrt(DELTA * (1 - DELTA) / RUNS)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rule", RULES)
def test_the_risk_is_kept_with_the_probability_promised(rule, law):
    violations, _ = simulate(RULES[rule], law)
    assert violations <= ALLOWED


@pytest.mark.parametrize("law", LAWS)
def test_the_naive_rule_breaks_its_target(law):
    violations, _ = simulate(lambda c, e, _: empirical_without_guarantee(c, e, risk=RISK), law)
    assert violations > 2 * ALLOWED


def test_the_default_reaches_four_fifths_of_the_oracle():
    oracle = np.flatnonzero(RISKS["monotone"] <= RISK)[-1] / len(GRID)
    for rule in ("fixed_sequence", "fixed_sequence, unlabelled pool"):
        _, coverage = simulate(RULES[rule], "monotone")
        assert coverage > 0.83 * oracle


def test_levels_passed_on_certify_more_than_levels_shared_and_kept(monkeypatch):
    """The fallback procedure against starts with δ/2 each, on the same samples."""
    rule = RULES["fixed_sequence, unlabelled pool"]
    passed_on = simulate(rule, "monotone")[1]

    def each_start_alone(sample, thresholds, shares, risk, delta):
        found = [np.inf]
        for start in np.flatnonzero(shares):
            alone = np.where(np.arange(len(shares)) == start, shares, 0.0)
            found.append(original(sample, thresholds[start:], alone[start:], risk, delta))
        return min(found)

    original = module._lowest_certified
    monkeypatch.setattr(module, "_lowest_certified", each_start_alone)
    shared = simulate(rule, "monotone")[1]
    assert passed_on > shared + 0.01


def test_a_classifier_that_is_good_enough_is_accepted_whole():
    rng = np.random.default_rng(4)
    threshold = fixed_sequence(rng.random(2000), rng.random(2000) < 0.005, risk=0.05)
    assert threshold.value == -np.inf
    assert threshold.accepted == threshold.n
    assert not threshold.accepts([np.nan, -np.inf]).any()


def test_other_losses_keep_the_risk_by_hoeffding_and_bentkus():
    def rule(c, e, run):
        half = np.where(e > 0, np.random.default_rng([run, 3]).choice([0.5, 1.0], size=len(e)), 0.0)
        return fixed_sequence(
            c, half, risk=0.75 * RISK, delta=DELTA, seed=run
        )  # the mean loss is 3/4 of the error rate

    violations, coverage = simulate(rule, "monotone")
    assert violations <= ALLOWED
    assert coverage > 0.2


def test_one_row_of_each_cluster_keeps_the_promise_where_copies_would_break_it():
    def copies(c, e, run, ids):
        names = np.repeat(np.arange(len(c)), 10) if ids else None
        return fixed_sequence(np.repeat(c, 10), np.repeat(e, 10), risk=RISK, delta=DELTA, ids=names, seed=run)

    rng = np.random.default_rng(5)
    broken = {True: 0, False: 0}
    for run in range(100):
        c, e = draw("flat just above", rng, n=300)
        for ids in broken:
            with suppress(NoSafeThresholdError):
                broken[ids] += true_risk("flat just above", copies(c, e, run, ids))[0] > 0
    assert broken[True] / 100 <= DELTA + 3 * sqrt(DELTA * (1 - DELTA) / 100)
    assert broken[False] / 100 > 0.25


@pytest.mark.parametrize("rule", [fixed_sequence, bonferroni, sgr])
def test_ties_at_the_top_do_not_hide_what_is_safe(rule):
    assert rule(np.ones(2000), np.zeros(2000), risk=0.05).accepted > 1500
    saturated = np.r_[np.ones(1300), np.random.default_rng(0).random(700)]
    errors = np.r_[np.zeros(1300), np.ones(700)]
    assert rule(saturated, errors, risk=0.1).accepted / rule(saturated, errors, risk=0.1).n > 0.6
    assert rule(np.full(2000, np.inf), np.zeros(2000), risk=0.05).accepted > 1500


@pytest.mark.parametrize("rule", [fixed_sequence, bonferroni, sgr])
def test_the_risk_said_to_be_in_reach_is(rule):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        c, e = rng.random(150), rng.random(150) < 0.1
        try:
            rule(c, e, risk=0.02)
        except NoSafeThresholdError as error:
            reached = float(re.search(r"a risk of ([\d.]+) is in reach", str(error))[1])
            assert rule(c, e, risk=reached).accepted > 0


def test_a_coverage_that_unusable_rows_forbid_is_an_error():
    c = np.r_[np.ones(700), np.full(300, -np.inf)]
    assert target_coverage(c, coverage=0.6, delta=0.05).accepted == 700
    for delta in (None, 0.05):
        with pytest.raises(NoSafeThresholdError, match="300 of which are not usable"):
            target_coverage(c, coverage=0.8, delta=delta)


@pytest.mark.parametrize(
    "rule",
    [
        lambda c, e, ids: fixed_sequence(c, e, risk=0.3, ids=ids),
        lambda c, e, ids: bonferroni(c, e, risk=0.3, points=4, ids=ids),
        lambda c, e, ids: sgr(c, e, risk=0.3, ids=ids),
        lambda c, e, ids: conformal_joint(c, e, risk=0.3, ids=ids),
        lambda c, e, ids: conformal_selection(c, e, np.linspace(0, 1, 50), risk=0.3, ids=ids),
        lambda c, _, ids: target_coverage(c, coverage=0.5, delta=0.1, ids=ids),
        lambda c, _, ids: target_tpr(c, tpr=0.5, ids=ids),
        lambda c, e, ids: minimal_cost(c, e, rejection=0.3, ids=ids),
        lambda c, e, ids: group_thresholds(c, e, np.zeros(len(c)), risk=0.3, ids=ids)["0.0"],
        lambda c, e, ids: weighted_fixed_sequence(c, e, np.ones(len(c)), largest=1.0, risk=0.3, ids=ids),
        lambda c, e, ids: weighted_fixed_sequence(c, e, np.ones(len(c)), largest=1.0, risk=0.3, by="betting", ids=ids),
    ],
)
def test_every_rule_counts_a_cluster_once(rule):
    rng = np.random.default_rng(0)
    c, e = rng.random(400), (rng.random(400) < 0.05).astype(float)
    copies = rule(np.repeat(c, 5), np.repeat(e, 5), np.repeat(np.arange(400), 5))
    assert copies.n <= 400
    assert rule(np.repeat(c, 5), np.repeat(e, 5), None).n > 1000
    with pytest.raises(ValueError, match="`ids` must have shape"):
        rule(c, e, [1])


def test_a_batch_that_is_not_usable_has_no_threshold():
    with pytest.raises(NoSafeThresholdError):
        conformal_selection([0.5, 0.6], [0, 0], [-np.inf, -np.inf], risk=0.3)


@pytest.mark.parametrize("delta", [None, 0.1])
def test_coverage_is_kept(delta):
    rng = np.random.default_rng(1)
    covered = np.array([1 - target_coverage(rng.random(200), coverage=0.8, delta=delta).value for _ in range(1000)])
    if delta is None:
        assert covered.mean() >= 0.8 - 0.003
    else:
        assert (covered < 0.8).mean() <= delta + 3 * sqrt(delta * (1 - delta) / 1000)


def test_conformal_rules_keep_their_expectations():
    rng = np.random.default_rng(2)
    shares, joint = [], []
    for _ in range(300):
        c, e = draw("monotone", rng, n=500)
        tc, te = draw("monotone", rng, n=500)
        kept = conformal_selection(c, e, tc, risk=0.05).accepts(tc)
        shares.append(te[kept].mean() if kept.any() else 0.0)
        joint.append((conformal_joint(c, e, risk=0.03).accepts(tc) * te).mean())
    assert np.mean(shares) <= 0.05 + 3 * np.std(shares) / sqrt(300)
    assert np.mean(joint) <= 0.03 + 3 * np.std(joint) / sqrt(300)
    assert np.mean(shares) > 0.04  # not met by accepting nothing

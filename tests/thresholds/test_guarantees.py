"""Every other guarantee is kept in simulation, the rule's seed fixed and the data new; naive rules break."""

import re
from contextlib import suppress
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain.thresholds import (
    NoSafeThresholdError,
    Quantity,
    betting,
    bonferroni,
    conformal_joint,
    conformal_selection,
    empirical_without_guarantee,
    group_thresholds,
    joint_risk,
    minimal_cost,
    risk_and_coverage,
    sgr,
    step_down,
    target_coverage,
    target_tpr,
    trade_off,
    weighted_risk,
)

DELTA = 0.1


def allowed(runs, delta=DELTA):
    return delta + 3 * sqrt(delta * (1 - delta) / runs)


def monotone(rng, n=2000):
    u = rng.random(n)
    return 1 - u, (rng.random(n) < 0.01 + 0.3 * u**2).astype(float)


def risk_of_monotone(threshold):
    return 0.01 + 0.1 * min(1 - threshold.value, 1.0) ** 2


def unequal_clusters(rng, clusters=1500, encode=False):
    """A third of the clusters have 6 rows that are right or wrong together, the others one row, hardly ever wrong."""
    sizes = np.where(rng.random(clusters) < 1 / 3, 6, 1)
    ids = np.repeat(np.arange(clusters), sizes)
    large = np.repeat(sizes == 6, sizes)
    u = rng.random(clusters)[ids]
    rate = 0.02 + 0.2 * u[np.searchsorted(ids, np.arange(clusters))]
    wrong = rng.random(clusters) < np.where(sizes == 6, rate, 0.005)
    e = wrong[ids].astype(float)
    names = np.char.add(np.where(e == 1, "wrong-", "right-"), ids.astype(str)) if encode else ids
    return 1 - u + 1e-6 * rng.random(len(u)), e, names, large


def risk_of_clusters(threshold):
    """Rows accepted: 6/3 from large clusters for every 2/3 from small ones."""
    cover = min(max(1 - threshold.value, 1e-9), 1.0)
    wrong_large = 0.02 + 0.1 * cover
    return (2.0 * wrong_large + (2 / 3) * 0.005) / (2.0 + 2 / 3)


@pytest.mark.parametrize("encode", [False, True], ids=["ids are numbers", "ids tell the label"])
def test_rows_of_unequal_clusters_keep_the_risk_by_betting(encode):
    broken, made = 0, 0
    for run in range(100):
        c, e, ids, _ = unequal_clusters(np.random.default_rng([run, 7]), encode=encode)
        with suppress(NoSafeThresholdError):
            broken += risk_of_clusters(betting(c, e, risk=0.08, delta=DELTA, ids=ids)) > 0.08
            made += 1
    assert broken / 100 <= allowed(100)
    assert made > 40


def test_one_row_of_each_cluster_certifies_another_risk_than_that_of_rows():
    broken = 0
    for run in range(50):
        c, e, ids, _ = unequal_clusters(np.random.default_rng([run, 7]))
        with suppress(NoSafeThresholdError):
            threshold = step_down(c, e, risk=0.06, delta=DELTA, ids=ids)
            broken += risk_of_clusters(threshold) > 0.06
            assert "every cluster counts once" in str(threshold)
    assert broken > 25


def test_copies_of_rows_do_not_certify_what_the_rows_do_not():
    """Ten copies of each of 300 rows with risk just above the target."""
    broken = {"copies": 0, "clusters": 0}
    for run in range(60):
        rng = np.random.default_rng([run, 8])
        c, e = np.repeat(rng.random(300), 10), np.repeat((rng.random(300) < 0.0501).astype(float), 10)
        for name, ids in (("copies", None), ("clusters", np.repeat(np.arange(300), 10))):
            with suppress(NoSafeThresholdError):
                rule = step_down if ids is None else betting
                rule(c, e, risk=0.05, delta=DELTA, ids=ids)
                broken[name] += 1
    assert broken["clusters"] / 60 <= allowed(60)
    assert broken["copies"] / 60 > 0.3


def test_betting_gives_the_same_threshold_whatever_the_order_of_rows_and_names():
    c, e, ids, _ = unequal_clusters(np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(len(c))
    threshold = betting(c, e, risk=0.1, ids=ids)
    assert betting(c[order], e[order], risk=0.1, ids=ids[order]) == threshold
    assert betting(c, e, risk=0.1, ids=1000 - ids) == threshold


def weighted_case(rng):
    x, u = rng.random(4000) < 0.3, rng.random(4000)
    e = (rng.random(4000) < np.where(x, 0.12 * u + 0.02, 0.02 * u)).astype(float)
    return 1 - u, e, np.where(x, 2.0, 0.4 / 0.7)


def weighted_truth(threshold):
    cover = min(1 - threshold.value, 1.0)
    return 0.6 * (0.02 + 0.06 * cover) + 0.4 * 0.01 * cover


@pytest.mark.parametrize("by", ["rejection_sampling", "betting"])
def test_weighted_risk_holds_under_the_shifted_distribution(by):
    broken, made = 0, 0
    for run in range(40):
        c, e, w = weighted_case(np.random.default_rng([run, 9]))
        with suppress(NoSafeThresholdError):
            broken += weighted_truth(weighted_risk(c, e, w, largest=2.0, risk=0.04, delta=DELTA, by=by)) > 0.04
            made += 1
    assert broken / 40 <= allowed(40)
    assert made > 13


def test_data_made_with_the_same_seed_is_no_harm_to_rejection_sampling():
    """The user's own `default_rng(0).random(n)` decides the errors: an unsalted draw of ours would be that stream."""
    broken = 0
    for run in range(10):
        rng = np.random.default_rng(0)
        path = rng.random(3000)  # the first numbers of seed 0, which an unsalted draw would compare with the weights
        u = np.random.default_rng([run, 10]).random(3000)
        e = (path > 0.5).astype(float)  # a risk of one half at every threshold
        with suppress(NoSafeThresholdError):
            weighted_risk(1 - u, e, np.full(3000, 1.0), largest=2.0, risk=0.3, delta=DELTA)
            broken += 1
    assert broken == 0


def test_groups_hold_together_and_the_naive_rule_in_each_does_not():
    broken = {"certified": 0, "naive": 0}
    for run in range(60):
        rng = np.random.default_rng([run, 11])
        u, g = rng.random(6000), np.arange(6000) % 3
        e = (rng.random(6000) < np.array([0.01, 0.02, 0.2])[g] + 0.3 * u**2).astype(float)
        thresholds = group_thresholds(1 - u, e, g, risk=0.06, delta=DELTA)
        assert thresholds["2"].value == np.inf  # its risk is never below 0.2, so it is always rejected

        def risk(name, threshold):
            return (0.01, 0.02)[int(name)] + 0.1 * min(1 - threshold.value, 1.0) ** 2

        broken["certified"] += any(risk(name, thresholds[name]) > 0.06 for name in "01")
        naive = {k: empirical_without_guarantee(1 - u[g == k], e[g == k], risk=0.06) for k in (0, 1)}
        broken["naive"] += any(risk(name, threshold) > 0.06 for name, threshold in naive.items())
    assert broken["certified"] / 60 <= allowed(60)
    assert broken["naive"] / 60 > 2 * allowed(60)


def test_groups_said_each_or_together():
    c, e = monotone(np.random.default_rng(0))
    g = np.arange(len(c)) % 4
    together = group_thresholds(c, e, g, risk=0.1, delta=DELTA)
    each = group_thresholds(c, e, g, risk=0.1, delta=DELTA, jointly=False)
    assert all(each[name].accepted > together[name].accepted for name in each)
    assert together["0"].guarantee.probability == pytest.approx(1 - DELTA / 4)
    assert "for all 4 groups together with probability 0.9" in str(together["0"])
    assert "together" not in str(each["0"])
    with pytest.raises(NoSafeThresholdError, match=r"each of the 4 tested at delta 0\.01\d\.") as info:
        group_thresholds(c[:40], e[:40], g[:40], risk=0.01)
    assert re.search(r"Achievable: risk [\d.]+ in '\d', which has 10 rows", str(info.value.explained()))


def test_a_group_that_is_one_cluster_is_rejected_and_bad_targets_are_named():
    c, e = monotone(np.random.default_rng(0))
    g = np.where(np.arange(2000) < 100, "one", "many")
    thresholds = group_thresholds(c, e, g, risk=0.2, ids=np.where(g == "one", 0, np.arange(2000) // 2))
    assert thresholds["one"].value == np.inf > thresholds["many"].value
    for options, message in (({"delta": 1.5}, "`delta` must be between"), ({"risk": 0.0}, "`risk` must be between")):
        with pytest.raises(ValueError, match=message):
            group_thresholds(c, e, g, **({"risk": 0.1} | options))
    with pytest.raises(ValueError, match="at least one sample"):
        group_thresholds([], [], [], risk=0.1)


def test_a_pilot_without_weight_proposes_all_the_same():
    c, e = monotone(np.random.default_rng(0), n=1000)
    weights = np.r_[np.ones(5), np.zeros(995)]
    for seed in range(8):
        with pytest.raises(NoSafeThresholdError, match="No threshold certifies risk"):  # and no division by zero
            weighted_risk(c, e, weights, largest=1.0, risk=0.3, by="betting", seed=seed)


def test_risk_and_coverage_hold_together():
    broken, made = 0, 0
    for run in range(100):
        with suppress(NoSafeThresholdError):
            threshold = risk_and_coverage(
                *monotone(np.random.default_rng([run, 12])), risk=0.05, coverage=0.5, delta=DELTA
            )
            made += 1
            broken += risk_of_monotone(threshold) > 0.05 or 1 - threshold.value < 0.5
    assert broken / 100 <= allowed(100)
    assert made > 60


def test_risk_and_coverage_out_of_reach_name_pairs_that_are_in_reach():
    c, e = monotone(np.random.default_rng(0))
    with pytest.raises(NoSafeThresholdError, match="cannot be certified together on n=") as info:
        risk_and_coverage(c, e, risk=0.03, coverage=0.8)
    risk = info.value.lowest_risk
    assert f"risk {risk:g} at coverage 0.8" in str(info.value.explained())
    threshold = risk_and_coverage(c, e, risk=risk, coverage=0.8)
    assert threshold.accepted / threshold.n >= 0.8
    assert [guarantee.quantity for guarantee in threshold.further] == [Quantity.COVERAGE]
    assert re.search(r"risk 0\.05 at coverage 0\.\d+", str(info.value.explained()))


@given(seed=st.integers(0, 10_000), n=st.integers(60, 2000), risk=st.sampled_from([0.01, 0.023, 0.03]))
@settings(max_examples=15, deadline=None)
def test_pairs_told_of_risk_and_coverage_can_be_asked_for(seed, n, risk):
    c, e = monotone(np.random.default_rng(seed), n)
    with pytest.raises(NoSafeThresholdError, match="cannot be certified together") as info:
        risk_and_coverage(c, e, risk=risk, coverage=0.97)
    for row in info.value.achievable:
        risk_and_coverage(c, e, risk=row.risk, coverage=row.coverage)


@pytest.mark.parametrize(("n", "helps"), [(400, True), (40, False)])
def test_what_is_told_of_groups_does_when_asked_for(n, helps):
    c, e, groups = np.linspace(0, 1, n), np.zeros(n), np.arange(n) % 2
    with pytest.raises(NoSafeThresholdError, match="No group has a safe threshold") as info:
        group_thresholds(c, e, groups, risk=0.017)
    first = info.value.achievable[0]
    assert info.value.lowest_risk == first.risk
    assert f"Achievable: risk {first.risk:g} in '{first.group}'" in str(info.value.explained())
    assert group_thresholds(c, e, groups, risk=first.risk)[first.group].accepted
    assert "delta=" not in str(info.value.explained())
    assert ("--each" in str(info.value.explained())) is helps
    if helps:
        assert any(result.accepted for result in group_thresholds(c, e, groups, risk=0.017, jointly=False).values())


def test_a_trade_off_may_be_chosen_from_after_looking():
    """The worst of all pairs on offer, in every run, and still within δ."""
    broken = 0
    for run in range(60):
        pairs = trade_off(*monotone(np.random.default_rng([run, 13])), risks=(0.02, 0.03, 0.04, 0.05), delta=DELTA)
        broken += any(risk_of_monotone(pair) > pair.guarantee.target for pair in pairs)
        assert [pair.accepted for pair in pairs] == sorted(pair.accepted for pair in pairs)
    assert broken / 60 <= allowed(60)


def test_one_threshold_keeps_the_risk_overall_and_in_each_group():
    broken, made = 0, 0
    for run in range(60):
        rng = np.random.default_rng([run, 14])
        u, g = rng.random(4000), (rng.random(4000) < 0.25).astype(int)
        e = (rng.random(4000) < np.where(g == 1, 0.02 + 0.35 * u**2, 0.01 + 0.1 * u**2)).astype(float)
        with suppress(NoSafeThresholdError):
            cover = min(1 - joint_risk(1 - u, e, g, risk=0.03, group_risk=0.06, delta=DELTA).value, 1.0)
            single, other = 0.02 + 0.35 * cover**2 / 3, 0.01 + 0.1 * cover**2 / 3
            broken += single > 0.06 or 0.25 * single + 0.75 * other > 0.03
            made += 1
    assert broken / 60 <= allowed(60)
    assert made > 40


def test_the_group_that_stands_in_the_way_is_named():
    rng = np.random.default_rng(0)
    g = np.where(np.arange(3000) % 3 == 0, "bad", "good")
    e = (rng.random(3000) < np.where(g == "bad", 0.3, 0.01)).astype(float)
    with pytest.raises(NoSafeThresholdError, match="the risk in the group 'bad' stands in the way"):
        joint_risk(rng.random(3000), e, g, risk=0.15, group_risk=0.1)


@pytest.mark.parametrize("rule", [step_down, bonferroni, sgr])
def test_ties_at_the_top_do_not_hide_what_is_safe(rule):
    assert rule(np.ones(2000), np.zeros(2000), risk=0.05).accepted > 1500
    saturated = np.r_[np.ones(1300), np.random.default_rng(0).random(700)]
    errors = np.r_[np.zeros(1300), np.ones(700)]
    assert rule(saturated, errors, risk=0.1).accepted / rule(saturated, errors, risk=0.1).n > 0.6
    assert rule(np.full(2000, np.inf), np.zeros(2000), risk=0.05).accepted > 1500


@pytest.mark.parametrize("rule", [step_down, bonferroni, sgr])
def test_the_risk_said_to_be_in_reach_is(rule):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        c, e = rng.random(150), (rng.random(150) < 0.1).astype(float)
        try:
            rule(c, e, risk=0.02)
        except NoSafeThresholdError as error:
            reached = error.lowest_risk
            assert rule(c, e, risk=reached).accepted > 0


def test_a_coverage_that_unusable_rows_forbid_is_an_error():
    c = np.r_[np.ones(700), np.full(300, -np.inf)]
    assert target_coverage(c, coverage=0.6, delta=0.05).accepted == 700
    for delta in (None, 0.05):
        with pytest.raises(NoSafeThresholdError, match="300 of which are not finite"):
            target_coverage(c, coverage=0.8, delta=delta)


@pytest.mark.parametrize(
    "rule",
    [
        lambda c, e, ids: step_down(c, e, risk=0.3, ids=ids),
        lambda c, e, ids: bonferroni(c, e, risk=0.3, points=4, ids=ids),
        lambda c, e, ids: sgr(c, e, risk=0.3, ids=ids),
        lambda c, e, ids: conformal_joint(c, e, risk=0.3, ids=ids),
        lambda c, e, ids: conformal_selection(c, e, np.linspace(0, 1, 50), risk=0.3, ids=ids),
        lambda c, _, ids: target_coverage(c, coverage=0.5, delta=0.1, ids=ids),
        lambda c, _, ids: target_tpr(c, tpr=0.5, ids=ids),
        lambda c, e, ids: minimal_cost(c, e, rejection=0.3, ids=ids),
        lambda c, e, ids: risk_and_coverage(c, e, risk=0.3, coverage=0.2, ids=ids),
        lambda c, e, ids: joint_risk(c, e, np.zeros(len(c)), risk=0.3, group_risk=0.3, ids=ids),
        lambda c, e, ids: trade_off(c, e, risks=(0.3,), ids=ids)[0],
        lambda c, e, ids: weighted_risk(c, e, np.ones(len(c)), largest=1.0, risk=0.3, ids=ids),
        lambda c, e, ids: weighted_risk(c, e, np.ones(len(c)), largest=1.0, risk=0.3, by="betting", ids=ids),
    ],
)
def test_rules_for_independent_rows_count_a_cluster_once(rule):
    rng = np.random.default_rng(0)
    c, e = rng.random(400), (rng.random(400) < 0.05).astype(float)
    copies = rule(np.repeat(c, 5), np.repeat(e, 5), np.repeat(np.arange(400), 5))
    assert copies.n <= 400
    assert rule(np.repeat(c, 5), np.repeat(e, 5), None).n > 1000
    with pytest.raises(ValueError, match="`ids` must have shape"):
        rule(c, e, [1])


def test_a_batch_that_is_not_usable_has_no_threshold():
    with pytest.raises(NoSafeThresholdError, match="for this batch of 2"):
        conformal_selection([0.5, 0.6], [0, 0], [-np.inf, -np.inf], risk=0.3)


@pytest.mark.parametrize("delta", [None, 0.1])
def test_coverage_is_kept(delta):
    rng = np.random.default_rng(1)
    covered = np.array([1 - target_coverage(rng.random(200), coverage=0.8, delta=delta).value for _ in range(1000)])
    if delta is None:
        assert covered.mean() >= 0.8 - 0.003
    else:
        assert (covered < 0.8).mean() <= allowed(1000, delta)


def test_conformal_rules_keep_their_expectations():
    rng = np.random.default_rng(2)
    shares, joint = [], []
    for _ in range(300):
        c, e = monotone(rng, n=500)
        tc, te = monotone(rng, n=500)
        kept = conformal_selection(c, e, tc, risk=0.05).accepts(tc)
        shares.append(te[kept].mean() if kept.any() else 0.0)
        joint.append((conformal_joint(c, e, risk=0.03).accepts(tc) * te).mean())
    assert np.mean(shares) <= 0.05 + 3 * np.std(shares) / sqrt(300)
    assert np.mean(joint) <= 0.03 + 3 * np.std(joint) / sqrt(300)
    assert np.mean(shares) > 0.04  # not met by accepting nothing


def test_the_bound_on_the_cost_holds():
    broken = 0
    for run in range(100):
        rng = np.random.default_rng([run, 15])
        u = rng.random(600)
        threshold = minimal_cost(1 - u, (rng.random(600) < u**2).astype(float), rejection=0.2, delta=DELTA)
        cover = min(1 - threshold.value, 1.0)
        broken += cover**3 / 3 + 0.2 * (1 - cover) > threshold.guarantee.bound
    assert broken / 100 <= allowed(100)

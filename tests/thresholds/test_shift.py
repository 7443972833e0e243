from contextlib import suppress
from math import log, sqrt

import numpy as np
import pytest

from abstain._kernels.bets import PRIOR, reaches
from abstain.thresholds import (
    NoSafeThresholdError,
    chow,
    chow_threshold,
    estimate_weights,
    group_thresholds,
    label_shift_bound,
    mean_upper_bound,
    minimal_cost,
    rejection_sample,
    step_down,
    weighted_risk,
    worst_mixture_risk,
)
from abstain.thresholds.betting import bets_for
from abstain.thresholds.costs import _lowest_cost
from abstain.thresholds.mixtures import LabelShiftBound


def test_the_risk_with_unknown_classes_is_that_of_known_vectors():
    assert LabelShiftBound(0.02, 0.8, 0.3, 0.05).at(0.1) == pytest.approx(0.0592)
    assert LabelShiftBound(0.02, 0.8, 1.0, 0.05).at(0.1) == pytest.approx(0.139512195, rel=1e-8)
    assert LabelShiftBound(0.02, 0.8, 0.3, 0.05).at(0.0776699029) == pytest.approx(0.05, rel=1e-8)


def test_label_shift_bound_vectors():
    bound = label_shift_bound(n=2000, accepted=1600, errors=24, n_out=500, accepted_out=60, delta=0.05)
    assert bound.risk == pytest.approx(0.0228979, abs=1e-7)
    assert bound.acceptance == pytest.approx(0.7802146, abs=1e-7)
    assert bound.acceptance_out == pytest.approx(0.1545426, abs=1e-7)
    assert bound.at(0.1) == pytest.approx(0.0439394, abs=1e-7)
    blind = label_shift_bound(n=2000, accepted=1600, errors=24, delta=0.05)
    assert blind.at(0.1) == pytest.approx(0.1439089, abs=1e-7)


def test_the_worst_mixture():
    a, r = [0.8, 0.6, 0.3], [0.02, 0.1, 1.0]
    assert worst_mixture_risk(a, r, [0.7, 0, 0], [1, 0.3, 0.1]) == pytest.approx(0.07492957746479, rel=1e-11)
    assert worst_mixture_risk(a, r, [0, 0, 0], [1, 1, 1]) == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    for _ in range(50):
        a, r = rng.uniform(0.1, 1, 3), rng.random(3)
        low, high = np.array([0.2, 0.1, 0.0]), np.array([0.9, 0.6, 0.4])
        shares = rng.dirichlet(np.ones(3), size=5000)
        inside = shares[((shares >= low) & (shares <= high)).all(1)]
        seen = ((inside * a * r).sum(1) / (inside * a).sum(1)).max()
        assert seen <= worst_mixture_risk(a, r, low, high) + 1e-12


def test_group_thresholds_hold_together():
    rng = np.random.default_rng(1)
    broken = 0
    for _ in range(60):
        t, g = rng.random(8000), rng.permutation(np.repeat([0, 1], 4000))
        e = rng.random(8000) < np.where(g == 0, 0.01 + 0.3 * t**2, 0.02 + 0.4 * t**2)
        thresholds = group_thresholds(1 - t, e, np.array(["a", "b"])[g], risk=0.06, delta=0.1)
        cover = {name: 1 - threshold.value for name, threshold in thresholds.items()}
        broken += 0.01 + 0.1 * cover["a"] ** 2 > 0.06 or 0.02 + 0.4 / 3 * cover["b"] ** 2 > 0.06
    assert broken / 60 <= 0.1 + 3 * sqrt(0.09 / 60)


def test_a_group_without_a_safe_threshold_is_always_rejected():
    c, e, groups = np.random.default_rng(0).random(500), np.repeat([0, 1], 250), np.repeat(["good", "bad"], 250)
    thresholds = group_thresholds(c, e, groups, risk=0.1)
    assert thresholds["good"].accepted == 250
    assert not thresholds["bad"].accepts(c).any()
    assert "no threshold could be certified for it" in thresholds["bad"].words
    with pytest.raises(NoSafeThresholdError, match="No group has a safe threshold") as info:
        group_thresholds(c, np.ones(500), groups, risk=0.1)
    assert "No risk below 1 is achievable in any" in str(info.value.explained())


@pytest.mark.parametrize(("by", "enough"), [("rejection_sampling", 0.7), ("betting", 0.3)])
def test_weights_certify_the_shifted_law_where_the_plain_rule_does_not(by, enough):
    """Deployment sees twice as many hard samples: x is 1 with probability 0.6 and not 0.3."""
    rng, broken, plain, certified = np.random.default_rng(2), 0, 0, 0
    for _ in range(40):
        x = rng.random(6000) < 0.3
        t = rng.random(6000)
        e = rng.random(6000) < np.where(x, 0.12 * t + 0.02, 0.02 * t)
        w = np.where(x, 2.0, 0.4 / 0.7)

        def shifted_risk(coverage):
            return 0.6 * (0.02 + 0.06 * coverage) + 0.4 * 0.01 * coverage

        with suppress(NoSafeThresholdError):
            kept = weighted_risk(1 - t, e, w, largest=2.0, risk=0.04, delta=0.1, by=by)
            certified += 1
            broken += shifted_risk(1 - kept.value) > 0.04
        plain += shifted_risk(1 - step_down(1 - t, e, risk=0.04, delta=0.1).value) > 0.04
    assert broken / 40 <= 0.1 + 3 * sqrt(0.09 / 40)
    assert plain / 40 > 0.5
    assert certified / 40 > enough


def test_betting_certifies_more_where_few_weights_are_large():
    """2 samples in 1,000 weigh 30, the others 0.94: rejection sampling keeps 1 in 30."""
    cover = {"rejection_sampling": 0.0, "betting": 0.0}
    for run in range(15):
        rng = np.random.default_rng(run)
        rare, t = rng.random(20_000) < 0.002, rng.random(20_000)
        e = rng.random(20_000) < np.where(rare, 0.05, 0.01 + 0.1 * t)
        w = np.where(rare, 30.0, 0.94 / 0.998)
        for by in cover:
            with suppress(NoSafeThresholdError):
                threshold = weighted_risk(1 - t, e, w, largest=30.0, risk=0.05, delta=0.1, by=by)
                cover[by] += min(1 - threshold.value, 1.0) / 15
    assert cover["betting"] > cover["rejection_sampling"] + 0.05


def test_the_bets_along_a_sequence_win_what_the_running_evidence_says():
    rng = np.random.default_rng(3)
    w, e, accepted = rng.random(50) * 2, (rng.random(50) < 0.1).astype(float), rng.random(50) > 0.4
    excess, won = w * accepted * (e - 0.2), []
    for target in np.linspace(1.01, 20, 200):
        capital, squares = 1.0, PRIOR * 0.1
        for t in range(50):
            bet = min(sqrt(2 * max(log(target / capital), 0) * (PRIOR + t) / ((50 - t) * squares)), 0.59)
            capital *= 1 - bet * excess[t]
            squares += excess[t] ** 2
        won.append(capital >= target)
        assert reaches(excess, 0.1, 0.59, log(target)) == won[-1]
    assert 0 < sum(won) < 200


def test_the_bound_on_a_mean_holds_and_is_tighter_than_hoeffding():
    def draw(n):
        return rng.choice([0.0, 0.1, 1.0], p=[0.5, 0.48, 0.02], size=n)

    rng, broken, width = np.random.default_rng(8), 0, []
    for _ in range(300):
        bound = mean_upper_bound(draw(600), draw(200), delta=0.1)
        broken += bound < 0.068
        width.append(bound - 0.068)
    assert broken / 300 <= 0.1 + 3 * sqrt(0.09 / 300)
    assert np.mean(width) < 0.75 * sqrt(np.log(10) / 1200)


def test_the_bound_on_a_mean_is_the_edge_of_what_the_bets_rule_out():
    x = np.random.default_rng(0).random(400) * 0.3
    bound = mean_upper_bound(x, x[:50], delta=0.05)
    spread = max(x[:50].var(), 1 / 401)
    capital = [
        np.mean([np.prod(1 - bet * (x - m)) for bet in bets_for(spread, 400, 0.05, largest=1 - m)])
        for m in (bound - 1e-6, bound + 1e-6)
    ]
    assert capital[0] < 20 < capital[1]
    assert mean_upper_bound(np.ones(5), np.ones(2), delta=0.1) == 1
    with pytest.raises(ValueError, match="`values` must be numbers between 0 and `largest`"):
        mean_upper_bound([2.0], [0.0], delta=0.1)


def test_rejection_sampling_keeps_in_proportion():
    kept = rejection_sample(np.repeat([0.5, 2.0], 20_000), largest=2.0, data=())
    assert kept[:20_000].mean() == pytest.approx(0.25, abs=0.02)
    assert kept[20_000:].all()
    with pytest.raises(ValueError, match="`weights` must be between 0 and `largest`"):
        rejection_sample([3.0], largest=2.0, data=())


C = [[0, 1, 10], [1, 0, 10], [2, 2, 0]]


def test_chow_vector():
    decision = chow([[0.6, 0.3, 0.1]], rejection=1.5, costs=C)
    assert decision.prediction.tolist() == [0]
    assert decision.advantage[0] == pytest.approx(1.5 - 1.3)
    assert not chow([[0.6, 0.3, 0.1]], rejection=0.8, costs=C).accepted[0]


def test_chow_with_plain_costs_is_a_threshold_on_the_largest_probability():
    p = np.random.default_rng(0).dirichlet(np.ones(4), size=200)
    np.testing.assert_array_equal(chow(p, rejection=0.3).accepted, p.max(1) > 0.7)


def test_rejection_may_cost_more_for_some_classes():
    p = [[0.6, 0.4]]
    assert not chow(p, rejection=[0.3, 0.3]).accepted[0]
    assert chow(p, rejection=[0.3, 0.9]).accepted[0]


@pytest.mark.parametrize(("p", "message"), [([[0.5, 0.2]], "rows that sum to 1"), ([0.5, 0.5], "must have shape")])
def test_chow_wants_probabilities(p, message):
    with pytest.raises(ValueError, match=message):
        chow(p, rejection=0.1)
    with pytest.raises(ValueError, match="`costs` must have shape"):
        chow([[0.5, 0.5]], rejection=0.1, costs=C)


@pytest.mark.parametrize(("rule", "above"), [(minimal_cost, 0.0), (chow_threshold, 0.5)])
def test_the_bound_on_the_cost_holds(rule, above):
    rng, broken = np.random.default_rng(3), 0
    for _ in range(200):
        t = rng.random(500)
        e = (rng.random(500) < t**2).astype(float)
        result = rule(1 - t - above, e, rejection=0.2, delta=0.1)
        cover = min(1 - above - result.value, 1)
        true = cover**3 / 3 + 0.2 * (1 - cover)
        broken += true > result.guarantee.bound
        assert result.guarantee.bound < true + 0.12
    assert broken / 200 <= 0.1


def test_minimal_cost_comes_near_the_lowest_cost_there_is():
    rng = np.random.default_rng(3)
    t = rng.random(6000)
    threshold = minimal_cost(1 - t, rng.random(6000) < t**2, rejection=0.2)
    cover = 1 - threshold.value
    best = np.sqrt(0.2)
    assert cover**3 / 3 + 0.2 * (1 - cover) < best**3 / 3 + 0.2 * (1 - best) + 0.003


def test_the_threshold_of_lowest_cost_is_that_of_brute_force():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        c = rng.integers(6, size=12).astype(float)
        accepting, rejecting = rng.random(12), rng.random(12)
        value = _lowest_cost(c, accepting, rejecting)
        totals = {g: np.where(c > g, accepting, rejecting).sum() for g in [-np.inf, *np.unique(c), np.inf]}
        assert np.where(c > value, accepting, rejecting).sum() == pytest.approx(min(totals.values()), abs=1e-12)


def test_rows_that_are_never_accepted_do_not_steer_the_threshold():
    c, e = (
        np.r_[np.full(300, -np.inf), np.ones(300), np.full(300, 2.0)],
        np.r_[np.zeros(300), np.ones(300), np.zeros(300)],
    )
    assert minimal_cost(c, e, rejection=0.9).value == 1.5  # halfway
    with pytest.raises(ValueError, match="at least 3 different samples, got 1"):
        minimal_cost([1.0, 2, 3, 4], [0] * 4, rejection=0.5, ids=[1] * 4)


def test_betting_works_without_a_pilot_and_far_from_its_target():
    rng = np.random.default_rng(0)
    for seed in range(20):
        with suppress(NoSafeThresholdError):
            weighted_risk(rng.random(5), np.zeros(5), np.ones(5), largest=1, risk=0.5, by="betting", seed=seed)
    c = rng.random(200_000)
    with pytest.raises(NoSafeThresholdError):
        weighted_risk(c, rng.random(200_000) < 0.5, np.ones(len(c)), risk=0.01, largest=1.0, by="betting")


def test_the_guarantee_under_weights_names_the_distribution_it_is_for():
    rng = np.random.default_rng(0)
    for by in ("betting", "rejection_sampling"):
        threshold = weighted_risk(rng.random(4000), np.zeros(4000), np.ones(4000), risk=0.05, largest=1.0, by=by)
        assert "for rows of the distribution that the weights describe" in threshold.words


def test_a_threshold_fixed_beforehand_keeps_its_place_and_its_bound():
    """Where the probabilities behind the advantage are wrong, the threshold stays at 0 and the bound says so."""
    rng = np.random.default_rng(4)
    errors = rng.random(3000) < 0.4
    threshold = chow_threshold(np.full(3000, 0.1), errors, rejection=0.2)
    assert (threshold.value, threshold.method) == (0.0, "chow")
    assert 0.4 < threshold.guarantee.certified < 0.46
    assert minimal_cost(np.full(3000, 0.1), errors, rejection=0.2).value == np.inf


def test_rejecting_everything_may_be_cheapest():
    assert minimal_cost([1.0, 2.0, 3.0], [1, 1, 1], rejection=0.5).accepted == 0


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1.0, 2.0], [1, 1]), {"rejection": 0.5}, "at least 3 different samples, got 2"),
        (([1.0, 2.0, 3.0], [1, 1, 2]), {"rejection": 0.5}, "must be between 0 and `largest`"),
        (([1.0, 2.0, np.nan], [1, 1, 0]), {"rejection": 0.5}, "`confidence` must not be NaN"),
        (([1.0, 2.0, 3.0], [1, 1, 0]), {"rejection": [0.5]}, "`rejection` one number or as many"),
        (([1.0, 2.0, 3.0], [1, 1, 0]), {"rejection": 0.5, "delta": 0.0}, "`delta` must be between 0 and 1"),
    ],
)
def test_costs_that_cannot_be_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        minimal_cost(*arguments, **options)


def test_weights_are_estimated_from_two_samples():
    rng = np.random.default_rng(7)
    source, target = rng.normal(size=(4000, 1)), rng.normal(loc=0.7, size=(3000, 1))
    result = estimate_weights(source, target)
    true = np.exp(0.7 * source[:, 0] - 0.7**2 / 2)
    assert np.corrcoef(result.weights, np.minimum(true, 10))[0, 1] > 0.98
    assert result.weights.mean() == pytest.approx(1, abs=0.1)
    assert "no finite-sample guarantee" in result.note
    u = rng.random(4000)
    threshold = weighted_risk(u, (rng.random(4000) < 0.02).astype(float), result, risk=0.1)
    assert threshold.words.startswith("no finite-sample guarantee, since the weights are estimated")
    with pytest.raises(ValueError, match="`largest` must be given"):
        weighted_risk(u, u < 0, result.weights, risk=0.1)
    with pytest.raises(ValueError, match="`source` and `target` must have shapes"):
        estimate_weights(source, target[:, 0])

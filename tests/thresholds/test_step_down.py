"""The default rule keeps its guarantee on every distribution, the rule fixed and the data new; naive rules do not."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom

from abstain.thresholds import (
    NoSafeThresholdError,
    bonferroni,
    empirical_without_guarantee,
    risk_and_coverage,
    sgr,
    step_down,
    target_risk,
)
from abstain.thresholds.binomial import binomial_p
from abstain.thresholds.critical_values import critical_values
from abstain.thresholds.sample import Sample
from abstain.thresholds.segments import segments
from abstain.thresholds.step_down import SafeRanks

RISK, DELTA, N, RUNS = 0.05, 0.1, 2000, 150
GRID = (np.arange(100_000) + 0.5) / 100_000  # share of samples more trusted
LAWS = {
    "monotone": lambda u: 0.01 + 0.3 * u**2,
    "confident errors": lambda u: np.where(u < 0.02, 0.4, 0.01 + 0.25 * u**2),
    "flat just above": lambda u: np.full_like(u, 0.0501),
    "A": lambda u: 0.005 + 0.45 * u**2,
    "B": lambda u: 0.005 + 0.45 * u**2 + 0.3 * np.exp(-u / 0.01),
    "low": lambda u: np.minimum(0.005 + 3.5 * u**2, 1.0),
}
RISKS = {name: np.cumsum(law(GRID)) / np.arange(1, len(GRID) + 1) for name, law in LAWS.items()}


def allowed(runs, delta=DELTA):
    return delta + 3 * sqrt(delta * (1 - delta) / runs)


def simulate(rule, rate, true_risk, *, n=N, risk=RISK, runs=RUNS, delta=DELTA):
    """Share of runs that break the target, and mean coverage; the rule is the same in every run."""
    broken, coverages = 0, []
    for run in range(runs):
        rng = np.random.default_rng([run, 2024])
        u = rng.random(n)
        try:
            result = rule(1 - u, (rng.random(n) < rate(u)).astype(float), risk=risk, delta=delta)
        except NoSafeThresholdError:
            coverages.append(0.0)
            continue
        coverage = min(1 - result.value, 1.0)
        coverages.append(coverage)
        broken += true_risk(coverage) > risk
    return broken / runs, float(np.mean(coverages))


def known_risk(law):
    return lambda coverage: RISKS[law][max(int(coverage * len(GRID)) - 1, 0)]


def pilot_by_rank(confidence, losses, *, risk, delta):
    """The default of old: a pilot of one in ten *ranks*, the same in every sample, proposes; the rest certifies."""
    order = np.argsort(-np.asarray(confidence))
    c, e = np.asarray(confidence)[order], np.asarray(losses)[order]
    in_pilot = np.random.default_rng([0, 1]).random(len(c)) < 0.1
    risks = np.cumsum(e[in_pilot]) / np.arange(1, in_pilot.sum() + 1)
    safe = np.flatnonzero(risks <= risk)
    start = 0.5 * (safe[-1] + 1) / in_pilot.sum() if len(safe) else 0.25
    pool, value = np.append(c[in_pilot], -np.inf), np.inf
    for coverage in np.linspace(start, 1, 96):
        threshold = pool[int(coverage * in_pilot.sum())]
        kept = ~in_pilot & (c > threshold)
        if binomial_p(e[kept].sum(), int(kept.sum()), risk) > 0.9 * delta:
            break
        value = threshold
    if value == np.inf:
        raise NoSafeThresholdError("none")
    return type("Found", (), {"value": float(value)})


def naive(confidence, losses, *, risk, delta):  # noqa: ARG001
    return empirical_without_guarantee(confidence, losses, risk=risk)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rule", [step_down, sgr, bonferroni])
def test_the_risk_is_kept_with_the_probability_guaranteed(rule, law):
    runs = RUNS if rule is step_down else 50
    broken, _ = simulate(rule, LAWS[law], known_risk(law), runs=runs)
    assert broken <= allowed(runs)


@pytest.mark.parametrize("law", ["monotone", "confident errors", "flat just above"])
def test_the_naive_rule_breaks_its_target(law):
    broken, _ = simulate(naive, LAWS[law], known_risk(law))
    assert broken > 2 * allowed(RUNS)


@pytest.mark.parametrize(("n", "risk", "delta"), [(279, 0.0299, 0.1), (500, 0.0299, 0.1), (1511, 0.0299, 0.05)])
def test_errors_at_the_bottom_do_not_break_it(n, risk, delta):
    """All errors are the 3% least confident: the risk just crosses the target at full coverage."""
    broken, _ = simulate(
        step_down, lambda u: u > 0.97, lambda c: max(0, c - 0.97) / c, n=n, risk=risk, delta=delta, runs=300
    )
    assert broken <= allowed(300, delta)


def test_a_pilot_drawn_by_rank_breaks_there():
    options = {"n": 279, "risk": 0.0299, "runs": 300}
    broken, _ = simulate(pilot_by_rank, lambda u: u > 0.97, lambda c: max(0, c - 0.97) / c, **options)
    assert broken > 3 * allowed(300)


@pytest.mark.parametrize(
    ("law", "least"), [("monotone", 0.545), ("A", 0.478), ("B", 0.385), ("confident errors", 0.12), ("low", 0.075)]
)
def test_it_certifies_as_much_as_it_is_known_to(law, least):
    """The goals are means; three standard errors of the runs here are allowed for."""
    _, coverage = simulate(step_down, LAWS[law], known_risk(law), runs=300)
    assert coverage > least - 3 * 0.17 / sqrt(300)


@pytest.mark.parametrize("atoms", [5, 20, 60])
@pytest.mark.parametrize("law", ["monotone", "flat just above"])
def test_ties_keep_the_guarantee(law, atoms):
    true = np.array([RISKS[law][int(len(GRID) * (a + 1) / atoms) - 1] for a in range(atoms)])
    broken, made = 0, 0
    for run in range(100):
        rng = np.random.default_rng([run, 5])
        u = rng.random(N)
        atom = (u * atoms).astype(int)
        try:
            threshold = step_down(1 - atom / atoms, rng.random(N) < LAWS[law](u), risk=RISK, delta=DELTA)
        except NoSafeThresholdError:
            continue
        made += 1
        accepted = threshold.accepts(1 - np.arange(atoms) / atoms)
        broken += true[np.flatnonzero(accepted)[-1]] > RISK
    assert broken / 100 <= allowed(100)
    assert made > 50 or law == "flat just above"


@pytest.mark.parametrize("by", ["confidence", "error", "both"])
def test_rows_sorted_by_anything_give_the_same_threshold(by):
    rng = np.random.default_rng(0)
    u = rng.random(N).round(3)
    e = (rng.random(N) < LAWS["monotone"](u)).astype(float)
    order = {"confidence": np.argsort(u), "error": np.argsort(e), "both": np.lexsort((u, -e))}[by]
    assert step_down(1 - u[order], e[order], risk=RISK) == step_down(1 - u, e, risk=RISK)


def test_where_all_confidences_are_equal_all_or_nothing_is_certified():
    errors = np.arange(171) < 12  # the exact bound on the risk of all of them is 0.111
    threshold = step_down(np.ones(171), errors, risk=0.15)
    assert (threshold.value, threshold.accepted) == (-np.inf, 171)
    with pytest.raises(NoSafeThresholdError) as info:
        step_down(np.ones(171), errors, risk=0.08)
    assert 0.11 <= info.value.lowest_risk <= 0.14


def test_a_threshold_lies_between_two_samples():
    rng = np.random.default_rng(1)
    c = rng.random(N)
    threshold = step_down(c, rng.random(N) < LAWS["monotone"](1 - c), risk=RISK)
    apart = np.sort(np.abs(c - threshold.value))[:2]
    assert apart[0] == pytest.approx(apart[1], rel=1e-6)
    assert (c > threshold.value).sum() == threshold.accepted


def test_confidences_that_rounding_alone_tells_apart_stay_together():
    rng = np.random.default_rng(2)
    c = np.sort(rng.random(N))[::-1].copy()
    c[1::2] = np.nextafter(c[::2], -1)  # pairs that differ in the last digit
    threshold = step_down(c, np.arange(N) > 1200, risk=0.02)
    assert threshold.accepted % 2 == 0
    assert np.abs(c - threshold.value).min() > 1e-9


def test_one_segment_without_errors_is_certified_from_the_least_number():
    assert step_down(np.arange(299.0), np.zeros(299), risk=0.01).value == -np.inf
    with pytest.raises(NoSafeThresholdError, match="at least 299 that are accepted"):
        step_down(np.arange(290.0), np.zeros(290), risk=0.01)


def test_segments_are_fixed_by_the_numbers_alone():
    parts = segments(2000, 0.05, 0.1)
    assert [(part.first, part.last) for part in parts] == [(160, 609), (610, 2000)]
    assert sum(part.share for part in parts) == pytest.approx(1)
    assert segments(40, 0.05, 0.1) == ()
    assert len(segments(1_000_000, 0.05, 0.1)) == 4


def test_unusable_rows_are_errors_that_are_never_accepted():
    c = np.r_[np.random.default_rng(0).random(1500), np.full(500, -np.inf)]
    threshold = step_down(c, np.r_[np.zeros(1500), np.ones(500)], risk=0.05)
    assert threshold.accepted == 1500
    assert not threshold.accepts([-np.inf, np.nan]).any()


def test_losses_between_0_and_1_keep_the_risk_and_the_naive_rule_does_not():
    def rounded(rule):
        def halves(c, e, *, risk, delta):
            half = np.where(e > 0, np.where(np.arange(len(e)) % 2 == 0, 0.5, 1.0), 0.0)
            return rule(c, half, risk=0.75 * risk, delta=delta)  # the mean loss is 3/4 of the error rate

        return halves

    broken, coverage = simulate(rounded(step_down), LAWS["monotone"], known_risk("monotone"))
    assert broken <= allowed(RUNS)
    assert coverage > 0.38
    broken, _ = simulate(rounded(naive), LAWS["monotone"], known_risk("monotone"))
    assert broken > 2 * allowed(RUNS)


def test_every_safe_rank_has_few_errors_for_a_binomial():
    """An independent look at the outcome: no accepted count is likely at the target risk."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        u = rng.random(800)
        sample = Sample.of(1 - u, (rng.random(800) < 0.3 * u**2).astype(float))
        if rank := SafeRanks.of(sample, RISK, DELTA).largest:
            assert binom.cdf(sample.totals[rank - 1], rank, RISK) <= DELTA


def test_repeated_ids_are_clusters_of_which_one_row_is_taken_and_the_words_say_so():
    rng = np.random.default_rng(3)
    c, e, ids = rng.random(900), np.zeros(900), np.repeat(np.arange(300), 3)
    threshold = step_down(c, e, risk=0.05, ids=ids)
    assert threshold.n == 300
    assert "every cluster counts once" in threshold.guarantee.distribution
    assert target_risk(c, e, risk=0.05, ids=np.arange(900)).method == "step_down"
    assert target_risk(c, e, risk=0.05, ids=ids).method == "betting"


def test_a_segment_inherits_only_from_one_that_was_rejected_whole():
    """As many errors at the start of the last segment as δ allows and its own share does not; the first one fails."""
    for n in range(1500, 2500):
        _, last = segments(n, RISK, DELTA)
        own, inherited = critical_values(n, RISK, last.first, last.last, (DELTA * last.share, DELTA))
        if own.beginning(0)[0] < inherited.beginning(0)[0]:
            break
    allowed_errors = int(inherited.beginning(0)[0])
    ranks = np.arange(1, n + 1)
    at_once = (ranks <= allowed_errors) | ((ranks > last.first) & (ranks % 3 == 0))  # the first segment sees them all
    assert SafeRanks.of(Sample.of(-ranks, at_once.astype(float)), RISK, DELTA).largest == 0


@pytest.mark.parametrize("values", [1, 6, 7])
def test_the_guarantee_of_few_values_says_when_it_is_proved(values):
    confidence, errors = np.arange(1000) % values / 7, np.zeros(1000, dtype=bool)
    caveat = f"proved for a score that takes no other values than the {values} value{'s' * (values > 1)} of these rows"
    shown = step_down(confidence, errors, risk=0.05).guarantee.caveats
    both = risk_and_coverage(confidence, errors, risk=0.05, coverage=0.5).guarantee.caveats
    assert shown == both == ((caveat,) if values <= 6 else ())

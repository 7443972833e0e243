"""The test of a guarantee on new rows: its size on distributions at the boundary, where naive tests fail."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm

from abstain.thresholds.refutation import refutation, refutation_p

LEVEL = 0.05


def every(n):
    return np.ones(n, dtype=bool)


def test_the_p_value_is_the_tail_of_the_binomial():
    events = np.arange(200) < 9
    result = refutation(events, every(200), limit=0.02)
    assert result.p_value == pytest.approx(binom.sf(8, 200, 0.02))
    assert result.verdict == "refuted"
    assert result.by == "binomial"


@pytest.mark.parametrize(("level", "delta"), [(0.05, 0.1), (0.01, 0.2), (0.2, 0.01)])
def test_the_bounds_are_clopper_and_pearsons_each_at_its_own_level(level, delta):
    result = refutation(np.arange(300) < 7, every(300), limit=0.02, level=level, delta=delta)
    exact = binomtest(7, 300)
    assert result.low == pytest.approx(exact.proportion_ci(1 - 2 * level, method="exact").low)
    assert result.high == pytest.approx(exact.proportion_ci(1 - 2 * delta, method="exact").high)


def test_the_power_is_that_of_the_exact_test():
    result = refutation(np.arange(300) < 3, every(300), limit=0.02)
    critical = next(x for x in range(301) if binom.sf(x - 1, 300, 0.02) <= LEVEL)
    assert result.power == pytest.approx(binom.sf(critical - 1, 300, 0.04))
    assert result.verdict == "too little data"


@pytest.mark.parametrize(
    ("n", "events", "verdict"),
    [
        (3000, 40, "confirmed"),
        (3000, 60, "consistent"),
        (3000, 90, "refuted"),
        (100, 1, "too little data"),
        (0, 0, "too little data"),
    ],
)
def test_each_verdict(n, events, verdict):
    trials = np.append(every(n), False)
    assert refutation(np.append(np.arange(n) < events, True), trials, limit=0.02).verdict == verdict


@pytest.mark.parametrize("limit", [0.001, 0.01, 0.05, 0.3])
@pytest.mark.parametrize("n", [1, 2, 30, 500, 4000])
def test_the_size_of_the_exact_test_is_at_most_its_level_for_every_number_of_rows(n, limit):
    critical = (
        next((x for x in range(1, n + 1) if refutation(np.arange(n) < x, every(n), limit=limit).p_value <= LEVEL), None)
        if n <= 30
        else int(binom.isf(LEVEL, n, limit)) + 1
    )
    if critical is None:
        return
    assert refutation(np.arange(n) < critical, every(n), limit=limit).verdict == "refuted"
    assert refutation(np.arange(n) < critical - 1, every(n), limit=limit).verdict != "refuted"
    assert binom.sf(critical - 1, n, limit) <= LEVEL


def test_the_normal_test_breaks_its_level_where_the_exact_one_does_not():
    n, limit = 20, 0.01
    refuted = [x for x in range(n + 1) if (x / n - limit) / sqrt(limit * (1 - limit) / n) > norm.isf(LEVEL)]
    assert binom.sf(refuted[0] - 1, n, limit) > 0.15  # a single error


CLUSTERS = {  # rows of a large cluster, how many clusters are large, and how many of these are wrong
    "copies": (8, 1.0, 0.1),
    "large and right": (8, 0.05, 0.0),
    "large and wrong": (8, 0.02, 0.6),
    "rare and right": (200, 1 / 600, 0.0),
}


def cluster_draws(kind, rng):
    """Rows of 600 clusters whose rate of errors is exactly 0.1; a large cluster is wrong or right as a whole."""
    size, share, rate = CLUSTERS[kind]
    large = rng.random(600) < share
    rest = 0.1 if share == 1 else (0.1 * (size * share + 1 - share) - size * share * rate) / (1 - share)
    number = np.repeat(np.arange(600), np.where(large, size, 1))
    return np.where(large, rng.random(600) < rate, rng.random(600) < rest)[number], number


def naive_p(events, number):
    """The normal tests that take rows, or clusters of any size, for independent and alike."""
    excess = np.bincount(number, weights=events - 0.1)
    of_rows = (events.mean() - 0.1) / sqrt(0.09 / len(events))
    return norm.sf(of_rows), norm.sf(excess.sum() / sqrt(np.square(excess).sum()))


@pytest.mark.parametrize(
    ("kind", "broken"), [("copies", 0), ("large and right", None), ("large and wrong", 0), ("rare and right", 1)]
)
def test_the_size_of_the_bets_is_at_most_their_level_on_clusters_at_the_boundary(kind, broken):
    rng, trials = np.random.default_rng(0), 300
    refuted, naive = 0, np.zeros(2)
    for _ in range(trials):
        events, number = cluster_draws(kind, rng)
        known = {"limit": 0.1, "largest": CLUSTERS[kind][0]}
        refuted += refutation_p(events, every(len(events)), number, **known) <= LEVEL
        naive += np.array(naive_p(events, number)) <= LEVEL
    assert refuted / trials <= LEVEL
    if broken is not None:
        assert naive[broken] / trials > LEVEL + 3 * sqrt(LEVEL * (1 - LEVEL) / trials)


def test_bets_notice_a_broken_guarantee_and_confirm_a_kept_one():
    rng, number = np.random.default_rng(1), np.repeat(np.arange(1500), 4)
    bad, good = (rng.random(6000) < rate for rate in (0.2, 0.05))
    result = refutation(bad, every(6000), number, limit=0.1, largest=4)
    assert (result.verdict, result.by) == ("refuted", "betting")
    assert refutation(good, every(6000), number, limit=0.1, largest=4).verdict == "confirmed"
    assert result.low < bad.mean() < result.high


def test_the_bounds_of_the_bets_hold_the_rate():
    rng, missed = np.random.default_rng(2), 0
    for _ in range(40):
        events, number = cluster_draws("large and wrong", rng)
        result = refutation(events, every(len(events)), number, limit=0.1, largest=8)
        missed += not result.low <= 0.1 <= result.high
    assert missed <= 4


def test_clusters_of_one_row_are_tested_by_bets_as_well():
    events = np.arange(1000) < 150
    assert refutation(events, every(1000), np.arange(1000), limit=0.1).p_value < 0.01


def test_no_trials_refute_nothing():
    none = np.zeros(5, dtype=bool)
    for clusters in (None, np.zeros(5, dtype=np.int64)):
        result = refutation(none, none, clusters, limit=0.1)
        assert (result.p_value, result.verdict, result.high) == (1.0, "too little data", 1.0)


@pytest.mark.parametrize("limit", [0.0, 1.0])
def test_a_limit_that_says_nothing_is_refused(limit):
    with pytest.raises(ValueError, match="`limit` must be between 0 and 1"):
        refutation(every(3), every(3), limit=limit)

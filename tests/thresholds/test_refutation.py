"""The test of a promise on new rows: its size on distributions at the boundary, where naive tests fail."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom, norm

from abstain.thresholds.refutation import refutation, refutation_p

LEVEL = 0.05


def every(n):
    return np.ones(n, dtype=bool)


def test_the_p_value_is_the_tail_of_the_binomial():
    events = np.arange(200) < 9
    found = refutation(events, every(200), limit=0.02)
    assert found.p_value == pytest.approx(binom.sf(8, 200, 0.02))
    assert found.verdict == "refuted"
    assert found.by == "binomial"


def test_the_power_is_that_of_the_exact_test():
    found = refutation(np.arange(300) < 3, every(300), limit=0.02)
    critical = next(x for x in range(301) if binom.sf(x - 1, 300, 0.02) <= LEVEL)
    assert found.power == pytest.approx(binom.sf(critical - 1, 300, 0.04))
    assert found.verdict == "too little data"


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


def cluster_draws(kind, rng, clusters):
    """Rows of clusters of at most 8 rows whose rate of events among the trials is exactly 0.1."""
    if kind == "copies":
        sizes, rates = np.full(clusters, 8), (rng.random(clusters) < 0.1).astype(float)
    elif kind == "large and right":  # a row in 41 is wrong in clusters of 1, none in those of 8
        large = rng.random(clusters) < 0.05
        sizes, rates = np.where(large, 8, 1), np.where(large, 0.0, 0.1 * (0.4 + 0.95) / 0.95)
    else:  # "large and wrong": all errors are in clusters of 8
        large = rng.random(clusters) < 0.02
        sizes, rates = np.where(large, 8, 1), np.where(large, 0.1 * (0.16 + 0.98) / 0.16, 0.0)
    number = np.repeat(np.arange(clusters), sizes)
    return rng.random(len(number)) < rates[number], number


def naive_p(events):
    """The normal test that takes rows for independent."""
    z = (events.mean() - 0.1) / sqrt(0.09 / len(events))
    return norm.sf(z)


@pytest.mark.parametrize("kind", ["copies", "large and right", "large and wrong"])
def test_the_size_of_the_bets_is_at_most_their_level_on_clusters_at_the_boundary(kind):
    rng, trials = np.random.default_rng(0), 400
    refuted = naive = 0
    for _ in range(trials):
        events, number = cluster_draws(kind, rng, 200)
        refuted += refutation_p(events, every(len(events)), number, limit=0.1, largest=8) <= LEVEL
        naive += naive_p(events) <= LEVEL
    assert refuted / trials <= LEVEL
    if kind != "large and right":
        assert naive / trials > LEVEL + 3 * sqrt(LEVEL * (1 - LEVEL) / trials)


def test_bets_notice_a_broken_promise_and_confirm_a_kept_one():
    rng, number = np.random.default_rng(1), np.repeat(np.arange(1500), 4)
    bad, good = (rng.random(6000) < rate for rate in (0.2, 0.05))
    found = refutation(bad, every(6000), number, limit=0.1, largest=4)
    assert (found.verdict, found.by) == ("refuted", "betting")
    assert refutation(good, every(6000), number, limit=0.1, largest=4).verdict == "confirmed"
    assert found.low < bad.mean() < found.high


def test_the_bounds_of_the_bets_hold_the_rate():
    rng, missed = np.random.default_rng(2), 0
    for _ in range(40):
        events, number = cluster_draws("large and wrong", rng, 300)
        found = refutation(events, every(len(events)), number, limit=0.1, largest=8)
        missed += not found.low <= 0.1 <= found.high
    assert missed <= 4


def test_counting_clusters_a_large_one_counts_once():
    number = np.append(np.arange(400), np.full(400, 400))
    events = np.append(np.zeros(400, bool), np.ones(400, bool))
    rows = refutation(events, every(800), number, limit=0.1, largest=400)
    clusters = refutation(events, every(800), number, limit=0.1, counting="clusters")
    assert rows.verdict != "refuted"
    assert clusters.verdict == "confirmed"


def test_clusters_of_one_row_are_tested_by_bets_as_well():
    events = np.arange(1000) < 150
    assert refutation(events, every(1000), np.arange(1000), limit=0.1).p_value < 0.01


def test_no_trials_refute_nothing():
    none = np.zeros(5, dtype=bool)
    for clusters in (None, np.zeros(5, dtype=np.int64)):
        found = refutation(none, none, clusters, limit=0.1)
        assert (found.p_value, found.verdict, found.high) == (1.0, "too little data", 1.0)


@pytest.mark.parametrize("limit", [0.0, 1.0])
def test_a_limit_that_says_nothing_is_refused(limit):
    with pytest.raises(ValueError, match="`limit` must be between 0 and 1"):
        refutation(every(3), every(3), limit=limit)

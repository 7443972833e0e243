"""Standard errors and intervals, checked by simulation; each check fails for the careless rule beside it."""

import numpy as np
import pytest

from abstain.metrics import augrc_se, aurc, aurc_interval, aurc_se, compare
from abstain.metrics.influence import aurc_influence
from abstain.metrics.ranking import rank


def draw(rng, n, *, ties=False):
    """Samples whose error rate falls with the confidence u."""
    u = rng.random(n)
    errors = rng.random(n) < 0.4 * (1 - u) ** 2 + 0.02
    return np.round(u, 1) if ties else u, errors


def population_aurc(*, alpha=1.0, ties=False):
    return aurc(*draw(np.random.default_rng(99), 2_000_000, ties=ties), alpha=alpha)


@pytest.mark.parametrize(("alpha", "n", "ties"), [(1.0, 1000, False), (1.0, 1000, True), (0.5, 5000, False)])
def test_95_percent_intervals_hold_in_92_to_98_percent(alpha, n, ties):
    rng, truth = np.random.default_rng(0), population_aurc(alpha=alpha, ties=ties)
    hits = 0
    for _ in range(1000):
        c, e = draw(rng, n, ties=ties)
        hits += abs(aurc(c, e, alpha=alpha) - truth) <= 1.96 * aurc_se(c, e, alpha=alpha)
    assert 0.92 <= hits / 1000 <= 0.98


def test_few_errors_need_the_interval_with_unseen_errors():
    """At α = 0.1 about two errors matter: the normal interval misses often, this one keeps its level."""
    rng, truth = np.random.default_rng(1), population_aurc(alpha=0.1)
    normal = allowing = 0
    for _ in range(400):
        c, e = draw(rng, 1000)
        normal += abs(aurc(c, e, alpha=0.1) - truth) <= 1.96 * aurc_se(c, e, alpha=0.1)
        low, high = aurc_interval(c, e, alpha=0.1)
        allowing += low <= truth <= high
    assert allowing / 400 >= 0.95
    assert normal / 400 < 0.85


def paired_draw(rng, n):
    """A good score and a noisier copy of it."""
    u, errors = draw(rng, n)
    return u, u + rng.normal(scale=0.3, size=n), errors


@pytest.mark.parametrize("n", [200, 1000])
def test_paired_intervals_hold_and_are_shorter(n):
    """With few rows and with many, by one form of interval."""
    a, b, e = paired_draw(np.random.default_rng(98), 2_000_000)
    truth = aurc(a, e) - aurc(b, e)
    rng, hits, shorter = np.random.default_rng(2), 0, 0
    for _ in range(400):
        a, b, e = paired_draw(rng, n)
        comparison = compare(a, b, e)
        hits += comparison.low <= truth <= comparison.high
        shorter += comparison.se < np.hypot(aurc_se(a, e), aurc_se(b, e))
    assert hits / 400 >= 0.92
    assert shorter > 390


@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_few_errors_tell_a_good_score_from_a_random_one_but_not_two_random_ones(alpha):
    """An unseen error weighs as rows typically do: with the heaviest weight there would be little power."""
    rng, result, false = np.random.default_rng(8), 0, 0
    for _ in range(200):
        u, e = draw(rng, 1000 if alpha < 1 else 200)
        result += compare(u, rng.random(len(u)), e, alpha=alpha).high < 0
        false += compare(rng.random(len(u)), rng.random(len(u)), e, alpha=alpha).is_significant
    assert result / 200 > 0.4
    assert false / 200 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_clusters_widen_the_standard_error_as_they_should():
    """Ten copies of each sample: the error of the mean is that of the samples, not of the rows."""
    rng, result, clustered, naive = np.random.default_rng(3), [], [], []
    for _ in range(300):
        u, e = draw(rng, 100)
        ids = np.repeat(np.arange(100), 10)
        c, losses = np.repeat(u, 10) + rng.normal(scale=0.01, size=1000), np.repeat(e, 10)
        result.append(aurc(c, losses))
        clustered.append(aurc_se(c, losses, ids=ids))
        naive.append(aurc_se(c, losses))
    spread = np.std(result)
    assert np.mean(clustered) == pytest.approx(spread, rel=0.12)
    assert np.mean(naive) < spread / 2


def test_weighted_standard_error_matches_the_spread():
    rng, result, errors = np.random.default_rng(4), [], []
    for _ in range(400):
        c, e = draw(rng, 500)
        w = rng.exponential(size=500) + 0.1
        result.append(aurc(c, e, weights=w))
        errors.append(aurc_se(c, e, weights=w))
    assert np.mean(errors) == pytest.approx(np.std(result), rel=0.1)


def test_clusters_of_one_are_the_plain_standard_error():
    c, e = draw(np.random.default_rng(5), 300)
    assert aurc_se(c, e, ids=np.arange(300)) == aurc_se(c, e)
    assert augrc_se(c, e, ids=[str(i) for i in range(300)]) == augrc_se(c, e)


@pytest.mark.parametrize("alpha", [0.1, 0.37, 1.0])
def test_the_area_is_the_sum_of_shares(alpha):
    rng = np.random.default_rng(6)
    c, e, w = rng.integers(20, size=200), rng.random(200), rng.random(200) + 0.1
    influence = aurc_influence(rank(c, e, weights=w), alpha=alpha)
    assert (influence.share * e).sum() == pytest.approx(aurc(c, e, weights=w, alpha=alpha), rel=1e-12)
    assert influence.centred.sum() == pytest.approx(0, abs=1e-9)


def test_no_error_at_all_has_an_interval_above_zero():
    low, high = aurc_interval(np.arange(100.0), np.zeros(100))
    assert low == 0
    assert 0 < high < 1


def test_comparing_a_score_with_itself_is_zero():
    c, e = draw(np.random.default_rng(7), 100)
    comparison = compare(c, c, e)
    assert (comparison.difference, comparison.se) == (0, 0)
    assert not comparison.is_significant

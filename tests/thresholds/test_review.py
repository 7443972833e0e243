"""At most a share is rejected and the risk left is bounded: in simulation, the rule's seed fixed and the data new."""

from math import sqrt

import numpy as np
import pytest

from abstain.thresholds import Quantity, target_coverage, target_review, upper_bound
from abstain.thresholds.sample import Sample

DELTA, REVIEW, N, RUNS = 0.1, 0.3, 250, 600
ALLOWED = DELTA + 3 * sqrt(DELTA * (1 - DELTA) / RUNS)


def pieces(weights, rates, *, tied):
    """Confidence in pieces of these weights, most trusted first, each with its own error rate; one value each if tied.

    Returns what draws a sample, and what says which share a threshold rejects and at which risk.
    """
    weights, rates = np.asarray(weights), np.asarray(rates)
    ends = np.cumsum(weights)

    def draw(rng, n):
        u = rng.random(n)
        piece = np.searchsorted(ends, u, side="right")
        wrong = rng.random(n) < rates[piece]
        return (-piece.astype(float) if tied else 1 - u), wrong

    def truth(value):
        values = -np.arange(len(weights)) if tied else None
        cover = weights * (values > value) if tied else np.clip(1 - value - (ends - weights), 0, weights)
        return 1 - cover.sum(), (cover * rates).sum() / cover.sum()

    return draw, truth


CASES = {
    "errors in the rows at the cut": pieces([0.65, 0.15, 0.2], [0.02, 0.9, 0.3], tied=False),
    "the risk falls with the coverage": pieces([0.1, 0.9], [1.0, 0.0], tied=False),
    "ten values": pieces([0.1] * 10, np.linspace(0.0, 0.5, 10), tied=True),
    "the cut falls into one of two ties": pieces([0.755, 0.2, 0.045], [0.3, 0.0, 0.0], tied=True),
}


def share_broken(case, rule):
    draw, truth = CASES[case]
    rejected = risky = 0
    for run in range(RUNS):
        c, e = draw(np.random.default_rng([run, 11]), N)
        value, bound = rule(c, e)
        reject, risk = truth(value)
        rejected += reject > REVIEW + 1e-9
        risky += bound is not None and risk > bound + 1e-9
    return rejected / RUNS, risky / RUNS


def ours(c, e):
    threshold = target_review(c, e, review=REVIEW, delta=DELTA)
    return threshold.value, threshold.further[0].certified if threshold.further else None


def quantile(c, e):
    value = np.quantile(c, REVIEW)
    return value, e[c > value].mean()


@pytest.mark.parametrize("case", CASES)
def test_few_are_rejected_and_the_bound_on_the_risk_holds(case):
    rejected, risky = share_broken(case, ours)
    assert rejected + risky <= ALLOWED


@pytest.mark.parametrize("case", list(CASES)[:2])
def test_the_quantile_of_the_sample_and_its_risk_break(case):
    rejected, risky = share_broken(case, quantile)
    assert rejected > 0.3
    assert risky > 0.3


def test_the_threshold_lies_strictly_between_confidences():
    rng = np.random.default_rng(0)
    for sign in (1.0, -1.0):
        c = sign * rng.random(500)
        threshold = target_review(c, rng.random(500) < 0.1, review=0.2)
        ranked = np.sort(c)[::-1]
        assert ranked[threshold.accepted] < threshold.value < ranked[threshold.accepted - 1]
        assert np.count_nonzero(threshold.accepts(c)) == threshold.accepted


def test_without_labels_only_the_share_is_guaranteed_with_all_of_delta():
    rng = np.random.default_rng(0)
    c, e = rng.random(500), rng.random(500) < 0.1
    alone, both = target_review(c, review=0.2), target_review(c, e, review=0.2)
    assert alone.guarantee.quantity is Quantity.REVIEW
    assert not alone.further
    assert alone.value == target_coverage(c, coverage=0.8, delta=0.05).value
    assert both.accepted > alone.accepted  # a part of δ is for the risk
    assert {each.probability for each in (both.guarantee, *both.further)} == {0.95}


def test_the_bound_is_that_of_clopper_and_pearson_for_rows_above_the_cut():
    rng = np.random.default_rng(0)
    c, e = rng.random(500), rng.random(500) < 0.1
    threshold = target_review(c, e, review=0.2, delta=0.1)
    wrong = int(e[c > threshold.value].sum())
    assert threshold.further[0].certified == upper_bound(wrong, threshold.accepted, 0.045)
    losses = target_review(c, 0.5 * e, review=0.2, delta=0.1).further[0].certified
    assert wrong / 2 / threshold.accepted < losses < threshold.further[0].certified


def test_all_confidences_equal_are_all_accepted():
    threshold = target_review(np.ones(300), np.arange(300) < 3, review=0.1)
    assert threshold.accepted == 300
    assert threshold.further[0].certified == 0.05


def test_nothing_is_said_of_a_risk_that_no_few_values_certify():
    threshold = target_review(np.ones(300), np.arange(300) < 150, review=0.1)
    assert not threshold.further
    assert "no risk up to 0.3 is certified" in str(threshold)


def test_of_clusters_the_share_and_the_risk_are_of_the_same_rows():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        c, ids = rng.random(400).round(2), np.arange(400) // 2
        wrong = rng.random(400) < 0.3 * (1 - c)
        threshold, drawn = target_review(c, wrong, review=0.1, ids=ids), Sample.of(c, wrong, ids=ids)
        accepted = drawn.confidence > threshold.value
        assert (accepted.sum(), drawn.losses[accepted].sum()) == (threshold.accepted, threshold.errors)

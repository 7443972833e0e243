"""Tied samples: every metric is the average over all their orders, and the order of the rows never matters."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain.metrics import (
    augrc,
    augrc_se,
    aurc,
    aurc_interval,
    aurc_se,
    compare,
    excess_aurc,
    ood_aupr,
    risk_at_coverage,
)


def brute_force(confidence, losses, alpha):
    """The mean of the textbook AURC-α over all orders of the samples that keep the confidence descending."""
    n = len(losses)
    m = max(1, int(alpha * n + 1e-9))
    areas = []
    for order in permutations(range(n)):
        if all(confidence[a] >= confidence[b] for a, b in pairwise(order)):
            risks = np.cumsum([losses[i] for i in order]) / np.arange(1, n + 1)
            areas.append(risks[:m].mean())
    return np.mean(areas)


def test_aurc_is_the_mean_over_all_orders_of_ties():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        n = int(rng.integers(1, 7)) if rng.random() < 0.97 else 7
        confidence, alpha = rng.integers(3, size=n), rng.uniform(0.05, 1)
        losses = rng.integers(2, size=n) if rng.random() < 0.5 else rng.random(n)
        area = aurc(confidence, losses, alpha=alpha)
        assert area == pytest.approx(brute_force(confidence, losses, alpha), abs=1e-12)
        order = rng.permutation(n)
        assert area == aurc(confidence[order], losses[order], alpha=alpha)


samples = st.integers(2, 60).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 8), min_size=n, max_size=n),
        st.lists(st.floats(0, 1), min_size=n, max_size=n),
        st.lists(st.floats(0.1, 10), min_size=n, max_size=n),
        st.lists(st.integers(0, 5), min_size=n, max_size=n),
        st.permutations(range(n)),
    )
)


@given(samples)
def test_no_metric_changes_a_digit_under_permutation(data):
    c, e, w, ids, order = (np.array(part) for part in data)
    ids[:2] = 100, 101  # at least two clusters
    other = c[::-1].copy()

    def all_metrics(rows):
        comparison = compare(c[rows], other[rows], e[rows], ids=ids[rows])
        return (
            aurc(c[rows], e[rows], alpha=0.4),
            aurc(c[rows], e[rows], weights=w[rows]),
            aurc_se(c[rows], e[rows], weights=w[rows], ids=ids[rows]),
            aurc_interval(c[rows], e[rows], alpha=0.7),
            augrc(c[rows], e[rows], weights=w[rows]),
            augrc_se(c[rows], e[rows]),
            excess_aurc(c[rows], e[rows]),
            risk_at_coverage(c[rows], e[rows], coverage=0.5),
            (comparison.difference, comparison.se, comparison.low, comparison.high),
        )

    assert all_metrics(np.arange(len(c))) == all_metrics(order)


@given(samples)
def test_equal_weights_change_nothing(data):
    c, e, *_ = (np.array(part) for part in data)
    for weight in (1.0, 4.0):
        assert aurc(c, e, weights=np.full(len(c), weight)) == pytest.approx(aurc(c, e), rel=1e-12, abs=1e-15)
        assert aurc_se(c, e, weights=np.full(len(c), weight)) == pytest.approx(aurc_se(c, e), rel=1e-9, abs=1e-12)


def test_constant_confidence_has_the_overall_risk():
    e = np.random.default_rng(0).random(50)
    assert aurc(np.zeros(50), e) == pytest.approx(e.mean(), rel=1e-14)
    assert aurc(np.zeros(50), e, alpha=0.3) == pytest.approx(e.mean(), rel=1e-14)


def test_tied_precision_is_counted_once():
    assert ood_aupr([1.0, 1.0], [1.0, 1.0]) == 0.5

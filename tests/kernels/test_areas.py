"""The pass over right and wrong rows against sums written out over the rows of the ranking."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain._kernels.ranking import PARCEL
from abstain.metrics.checks import check_samples
from abstain.metrics.groups import group, sides_of

samples = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=25)


def by_hand(confidence, errors, m):
    """Σ R_k and the influence e h − T of every row in exact fractions, ties at the mean of their places."""
    order = sorted(range(len(errors)), key=lambda i: -confidence[i])
    rate = {
        c: Fraction(sum(e for d, e in zip(confidence, errors, strict=True) if d == c), confidence.count(c))
        for c in set(confidence)
    }
    e = [rate[confidence[i]] for i in order]
    risks = sum(sum(e[:k], Fraction()) / k for k in range(1, m + 1))
    h = [sum((Fraction(1, k) for k in range(i + 1, m + 1)), Fraction()) for i in range(len(e))]
    t = [sum((e[k - 1] / k for k in range(i + 1, m + 1)), Fraction()) for i in range(len(e))]

    def mean_of_tie(values, i):
        positions = [p for p, j in enumerate(order) if confidence[j] == confidence[i]]
        return sum(values[p] for p in positions) / len(positions)

    raw = [errors[i] * mean_of_tie(h, i) - mean_of_tie(t, i) for i in range(len(e))]
    mean = sum(raw) / len(raw)
    return risks, sum((x - mean) ** 2 for x in raw), sum((x - mean) ** 3 for x in raw)


@given(samples, st.floats(0.01, 1))
def test_sums_are_those_of_the_definition(data, share):
    confidence, errors = [c for c, _ in data], [int(e) for _, e in data]
    m = max(1, int(share * len(data)))
    result = group(confidence, errors).error_areas(np.array([m]))[0]
    risks, spread, third = by_hand(confidence, errors, m)
    assert result.risks == pytest.approx(float(risks), rel=1e-14)
    assert result.spread == pytest.approx(float(spread), rel=1e-11, abs=1e-25)
    assert result.third == pytest.approx(float(third), rel=1e-11, abs=1e-13 * float(spread) ** 1.5 + 1e-36)


@pytest.mark.parametrize("digits", [1, 3, 12])
def test_rows_and_groups_give_the_same_bits_and_other_areas_change_none(digits):
    rng = np.random.default_rng(digits)
    c = rng.normal(size=5 * PARCEL + 7).round(digits)
    e = rng.random(len(c)) < 0.3
    ms = np.array([1, 50, 2 * PARCEL, len(c)])
    sides = sides_of(check_samples(c, e))
    assert sides.error_areas(ms) == group(c, e).error_areas(ms)
    assert sides.error_areas(ms) == [sides.error_areas(ms[k : k + 1])[0] for k in range(4)]


def test_float32_confidences_give_the_same_bits():
    rng = np.random.default_rng(0)
    c, e = rng.normal(size=3000).astype(np.float32), rng.random(3000) < 0.2
    single, double = (sides_of(check_samples(x, e)).error_areas(np.array([3000])) for x in (c, c.astype(float)))
    assert single == double


def test_a_small_spread_beside_a_large_mean_keeps_its_digits():
    """One error, at the last rank, of n: every other row has the same influence −1/n."""
    n = 100_000
    e = np.zeros(n)
    e[-1] = 1
    result = group(-np.arange(n, dtype=float), e).error_areas(np.array([n]))[0]
    assert result.spread == pytest.approx((n - 1) / n**3, rel=1e-14, abs=0)

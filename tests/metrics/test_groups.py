"""Groups of parts merge into those of the whole, and give what the rows give."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from abstain.metrics import (
    SampleRows,
    augrc,
    aurc,
    aurc_interval,
    aurc_se,
    estimates,
    group,
    paired,
    rank,
    risk_coverage,
)
from abstain.metrics.groups import prefix

rows = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=30)


def arrays(data):
    return np.array([c for c, _ in data], dtype=float), np.array([e for _, e in data])


def equal(a, b):
    fields = ("confidence", "counts", "weights", "losses")
    return a.is_counted == b.is_counted and all(np.array_equal(getattr(a, f), getattr(b, f)) for f in fields)


@given(st.tuples(rows, rows, rows))
def test_merging_is_exact_commutative_and_associative(parts):
    a, b, c = (group(*arrays(part)) for part in parts)
    whole = group(*arrays([*parts[0], *parts[1], *parts[2]]))
    assert equal(a.merge(b).merge(c), whole)
    assert equal(a.merge(b.merge(c)), whole)
    assert equal(c.merge(a).merge(b), whole)


def test_merged_weights_and_fractions_add_up():
    rng = np.random.default_rng(0)
    c, e, w = rng.integers(5, size=100), rng.random(100), rng.random(100) + 0.1
    merged = group(c[:40], e[:40], weights=w[:40]).merge(group(c[40:], e[40:], weights=w[40:]))
    whole = group(c, e, weights=w)
    assert not merged.is_counted
    np.testing.assert_allclose(merged.losses, whole.losses, rtol=1e-14)
    np.testing.assert_allclose(merged.weights, whole.weights, rtol=1e-14)


def test_estimates_of_groups_are_those_of_the_rows():
    rng = np.random.default_rng(1)
    c, e = rng.normal(size=500).round(1), rng.random(500) < 0.3
    alphas = (0.1, 0.5, 1.0)
    for result in (estimates(group(c, e), alphas=alphas), estimates(rank(c, e), alphas=alphas)):
        for alpha, each in zip(alphas, result, strict=True):
            assert each.value == aurc(c, e, alpha=alpha)
            assert each.se == aurc_se(c, e, alpha=alpha)
            assert (each.low, each.high) == aurc_interval(c, e, alpha=alpha)


def test_counted_and_weighted_ways_agree():
    """The sums of integers and those for any weight are different code."""
    rng = np.random.default_rng(2)
    c, e, ones = rng.normal(size=2000).round(2), rng.random(2000) < 0.2, np.ones(2000)
    for alpha in (0.05, 0.4, 1.0):
        assert aurc(c, e, alpha=alpha) == pytest.approx(aurc(c, e, alpha=alpha, weights=ones), rel=1e-13)
        assert aurc_se(c, e, alpha=alpha) == pytest.approx(aurc_se(c, e, alpha=alpha, weights=ones), rel=1e-11)
    assert augrc(c, e) == pytest.approx(augrc(c, e, weights=ones), rel=1e-13)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32, np.float64])
def test_the_type_of_losses_and_confidences_changes_nothing(dtype):
    rng = np.random.default_rng(3)
    c, e = rng.normal(size=300).astype(np.float32), rng.random(300) < 0.3
    assert aurc(c, e.astype(dtype)) == aurc(c.astype(float), e)
    np.testing.assert_array_equal(
        risk_coverage(c, e.astype(dtype)).threshold, risk_coverage(c.astype(float), e).threshold
    )


def test_strided_and_foreign_byte_orders_are_read_right():
    rng = np.random.default_rng(4)
    c, e = rng.normal(size=300), rng.integers(2, size=300)
    assert aurc(c[::-1], e[::-1]) == aurc(c, e) == aurc(c.astype(">f8"), e.astype(">i4"))
    assert rank(c[::2], e[::2]).group.tolist() == rank(c[::2].copy(), e[::2].copy()).group.tolist()


def test_arguments_are_not_changed():
    c, e = np.array([0.2, 0.9, 0.5]), np.array([1.0, 0.0, 0.5])
    for losses in (e, e > 0.6):
        before = c.copy(), losses.copy()
        aurc(c, losses), aurc_se(c, losses), augrc(c, losses)
        np.testing.assert_array_equal(c, before[0])
        np.testing.assert_array_equal(losses, before[1])


@given(st.integers(1, 1000), st.integers(1, 100))
@example(100, 29)  # 0.29 · 100 is below 29
def test_a_share_of_n_samples_does_not_fall_short_by_rounding(n, percent):
    assert prefix(n, percent / 100) == max(1, n * percent // 100)


def test_what_groups_alone_cannot_tell():
    with pytest.raises(ValueError, match="must have the rows where losses or weights vary"):
        estimates(group([1.0, 2.0], [0.5, 0.2]))
    single = estimates(group([1.0, 2.0], [0, 1]))[0]
    with pytest.raises(ValueError, match="two rankings of the same rows"):
        paired(single, single)
    a, b = (estimates(rank([1.0, 2.0], [0, 1]))[0] for _ in range(2))
    with pytest.raises(ValueError, match="two rankings of the same rows"):
        paired(a, b)


def test_rows_are_checked():
    with pytest.raises(ValueError, match="`labels` must be 2 integers"):
        SampleRows.of([0, 1], labels=[0.5, 1.0])
    with pytest.raises(ValueError, match=r"`logits` must be numbers of shape \(2, K\)"):
        SampleRows.of([0, 1], logits=[[0.0, 1.0]])
    with pytest.raises(ValueError, match="must be of one length, got 3 and 2"):
        SampleRows.of([0, 1]).rank([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="`confidence` must not be NaN"):
        SampleRows.of([0, 1]).rank([1.0, np.nan])

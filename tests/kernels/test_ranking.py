"""The order of rows, and groups of ties, against NumPy."""

from collections import Counter

import numpy as np
import pytest

from abstain._kernels.ranking import PARCEL, order_rows, sort_floats, split
from abstain.metrics.groups import Sides

RNG = np.random.default_rng(0)
N = 3_000
VALUES = {
    "smooth": RNG.normal(size=N),
    "ties": RNG.normal(size=N).round(1),
    "apart in the last bits": 1 + RNG.integers(5000, size=N) * 2.0**-52,
    "near one and near none": np.concatenate([RNG.random(100), 1 - RNG.exponential(1e-13, size=N)]),
    "every size": np.exp(RNG.normal(size=N) * 100) * RNG.choice([-1, 1], size=N),
    "limits": RNG.choice([np.inf, -np.inf, 0.0, 5e-324, -5e-324, 1.7e308, -1.7e308], size=N),
    "one value": np.full(40, -0.5),
    "zeros": np.zeros(9),
    "one": np.array([0.3]),
    "none": np.empty(0),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_the_order_is_that_of_numpy(values, dtype):
    with np.errstate(over="ignore"):
        given = values.astype(dtype)
    ordered = sort_floats(given.copy())
    assert ordered.dtype == dtype
    np.testing.assert_array_equal(
        ordered.view(f"u{given.itemsize}"), np.sort(given + dtype(0)).view(f"u{given.itemsize}")
    )


def test_signed_zeros_are_one():
    assert not np.signbit(sort_floats(np.array([0.0, -0.0]))).any()


CONFIDENCES = {
    "smooth": RNG.normal(size=5_000),
    "negative": -RNG.exponential(size=5_000),
    "ties": RNG.normal(size=5_000).round(1),
    "apart in the last bit": 1 + RNG.integers(50, size=5_000) * 2.0**-52,  # long runs of equal leading bits
    "two binades of last bits": RNG.choice([1.0, -1.0], size=5_000) * (1 + RNG.integers(3, size=5_000) * 2.0**-52),
    "every size": np.exp(RNG.normal(size=5_000) * 100) * RNG.choice([-1, 1], size=5_000),
    "limits": RNG.choice([np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 1.7e308], size=5_000),
    "one row": np.array([0.3]),
    "one value": np.full(40, -0.5),
}


@pytest.mark.parametrize("few", [0, 1 << 13])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("confidence", CONFIDENCES.values(), ids=CONFIDENCES)
def test_groups_are_numbered_in_the_exact_order(confidence, dtype, few, monkeypatch):
    monkeypatch.setattr("abstain._kernels.ranking.FEW", few)
    with np.errstate(over="ignore"):
        c = confidence.astype(dtype)
    group, counts, examples = order_rows(c).numbers()
    distinct, expected, expected_counts = np.unique(-c, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(group, expected)
    np.testing.assert_array_equal(counts, expected_counts)
    np.testing.assert_array_equal(c[examples], -distinct)


@pytest.mark.parametrize("few", [0, 1 << 13])
@pytest.mark.parametrize("confidence", CONFIDENCES.values(), ids=CONFIDENCES)
def test_some_of_the_rows_are_in_the_order_of_their_own(confidence, few, monkeypatch):
    monkeypatch.setattr("abstain._kernels.ranking.FEW", few)
    chosen = np.arange(len(confidence)) % 3 != 1
    numbers = np.where(chosen, np.cumsum(chosen) - 1, -1)
    among, own = order_rows(confidence).among(numbers, chosen.sum()), order_rows(confidence[chosen])
    np.testing.assert_array_equal(among.begins, own.begins)
    for mine, alone in zip(among.numbers()[:2], own.numbers()[:2], strict=True):
        np.testing.assert_array_equal(mine, alone)


@pytest.mark.parametrize(("right", "wrong"), [([1.0, 2.0], []), ([], [1.0, 1.0]), ([0.0], [-0.0])])
def test_empty_sides_and_signed_zeros(right, wrong):
    groups = Sides(np.array(right), np.array(wrong)).groups()
    assert groups.counts.sum() == len(right) + len(wrong)
    assert len(groups.counts) == len({*right, *wrong})


@pytest.mark.parametrize("n", [40, 20_000])
def test_right_and_wrong_rows_are_split_whole(n):
    rng = np.random.default_rng(n)
    c, e = rng.normal(size=n), rng.random(n) < 0.3
    right, wrong = split(c, e)
    np.testing.assert_array_equal(np.sort(right), np.sort(c[~e]))
    np.testing.assert_array_equal(np.sort(wrong), np.sort(c[e]))


def test_groups_that_fill_several_parcels_are_those_of_counting():
    rng = np.random.default_rng(0)
    c, e = rng.integers(3 * PARCEL, size=8 * PARCEL).astype(float), rng.random(8 * PARCEL) < 0.3
    groups = Sides(np.sort(c[~e]), np.sort(c[e])).groups()
    counted, wrong = Counter(c.tolist()), Counter(c[e].tolist())
    assert groups.confidence.tolist() == sorted(counted, reverse=True)
    assert groups.counts.tolist() == [counted[value] for value in groups.confidence.tolist()]
    assert groups.losses.tolist() == [wrong[value] for value in groups.confidence.tolist()]

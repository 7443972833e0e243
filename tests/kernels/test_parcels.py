"""Groups of ties from right and wrong rows that are sorted apart."""

from collections import Counter

import numpy as np
import pytest

from abstain.kernels.parcels import PARCEL, split
from abstain.metrics.groups import Sides


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

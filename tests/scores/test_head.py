"""Distances between the rows of a head."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from abstain.scores import head
from abstain.scores.head import Head


def near_and_far(k=40, d=30):
    """Rows about a large common part, some of them apart by a billionth, two the same."""
    rng = np.random.default_rng(0)
    weight = 50 + rng.normal(size=(k, d))
    weight[1] = weight[0] + 1e-9 * rng.normal(size=d)
    weight[2] = weight[0] + 1e-4 * rng.normal(size=d)
    weight[-1] = weight[3]
    return weight


def test_distances_keep_their_digits_however_close_the_rows_are():
    weight = near_and_far()
    distances = cdist(weight, weight)
    expected = np.divide(1.0, distances, out=np.zeros_like(distances), where=distances > 0)
    np.testing.assert_allclose(Head(weight).inverse_distances, expected, rtol=1e-12)


def test_blocks_do_not_matter(monkeypatch):
    whole = Head(near_and_far()).inverse_distances
    monkeypatch.setattr(head, "row_blocks", lambda n, _: [slice(i, min(i + 7, n)) for i in range(0, n, 7)])
    np.testing.assert_allclose(Head(near_and_far()).inverse_distances, whole, rtol=1e-12)


def test_the_same_weight_for_every_class_is_refused():
    with pytest.raises(ValueError, match="must have rows that differ"):
        assert Head(np.ones((3, 4))).inverse_distances.size

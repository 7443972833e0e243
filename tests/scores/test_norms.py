"""Distances between the rows of a head."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from abstain.scores import norms
from abstain.scores.norms import inverse_distances


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
    np.testing.assert_allclose(inverse_distances(weight), expected, rtol=1e-12)


def test_blocks_do_not_matter(monkeypatch):
    whole = inverse_distances(near_and_far())
    monkeypatch.setattr(norms, "row_blocks", lambda n, _: [slice(i, min(i + 7, n)) for i in range(0, n, 7)])
    np.testing.assert_allclose(inverse_distances(near_and_far()), whole, rtol=1e-12)


def test_the_same_weight_for_every_class_is_refused():
    with pytest.raises(ValueError, match="must have rows that differ"):
        inverse_distances(np.ones((3, 4)))

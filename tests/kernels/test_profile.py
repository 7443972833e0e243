import numpy as np
import pytest

from abstain.kernels.profile import at_ranks
from abstain.scores.ras import _at_ranks

RNG = np.random.default_rng(0)
ROWS = {
    "distinct": RNG.normal(size=(40, 9)),
    "ties": RNG.integers(-2, 3, size=(40, 12)).astype(np.float32),
    "zeros of both signs": RNG.choice([0.0, -0.0, 1.0], size=(30, 7)),
    "all the same": np.full((3, 5), 0.25),
    "one feature": RNG.normal(size=(4, 1)),
    "half precision": RNG.normal(size=(20, 8)).astype(np.float16),
}


@pytest.mark.parametrize("x", ROWS.values(), ids=ROWS)
def test_equal_features_share_the_mean_of_their_places(x):
    profile = np.sort(RNG.normal(size=x.shape[1]))
    sums = np.concatenate([[0.0], np.cumsum(profile)])
    expected = [[profile[np.sum(row < v) : np.sum(row <= v)].mean() for v in row] for row in x]
    ordered = np.sort(x, axis=1)
    np.testing.assert_allclose(at_ranks(x, ordered, sums), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(_at_ranks(x, ordered, sums), expected, rtol=1e-12, atol=1e-14)

"""Passes over the features against NumPy."""

import numpy as np
import pytest

from abstain._kernels.features import at_ranks, class_blocks, less_excess
from abstain.scores.other_head import _at_ranks


def arrays(n, d, k, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(size=shape).astype(dtype) for shape in ((n, k), (n, d), (k, d)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("n", "d", "k"), [(1, 1, 2), (70, 9, 128), (130, 33, 300)])
@pytest.mark.parametrize("limit", [-10.0, 0.3, 10.0])
def test_it_is_the_product_with_the_excess(n, d, k, limit, dtype):
    logits, features, weight = arrays(n, d, k, dtype)
    expected = logits - np.maximum(features.astype(np.float64) - limit, 0) @ weight.T.astype(np.float64)
    np.testing.assert_allclose(
        less_excess(logits, features, limit, class_blocks(weight)), expected, rtol=1e-12, atol=1e-12
    )


def test_rows_do_not_depend_on_the_rows_beside_them():
    logits, features, weight = arrays(150, 21, 140, np.float32)
    whole = less_excess(logits, features, 0.5, class_blocks(weight))
    for row in range(0, 150, 13):
        alone = less_excess(logits[row : row + 1], features[row : row + 1], 0.5, class_blocks(weight))
        np.testing.assert_array_equal(alone[0], whole[row])


def test_a_masked_class_stays_masked():
    logits, features, weight = arrays(4, 3, 5, np.float64)
    logits[2, 1] = -np.inf
    assert less_excess(logits, features, 0.0, class_blocks(weight))[2, 1] == -np.inf


def test_weights_are_kept_in_float32_only_if_it_holds_them():
    assert class_blocks(np.array([[0.5, 1.0]])).dtype == np.float32
    assert class_blocks(np.array([[0.1, 1.0]])).dtype == np.float64


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
def test_equal_features_share_the_mean_of_their_ranks(x):
    profile = np.sort(RNG.normal(size=x.shape[1]))
    sums = np.concatenate([[0.0], np.cumsum(profile)])
    expected = [[profile[np.sum(row < v) : np.sum(row <= v)].mean() for v in row] for row in x]
    ordered = np.sort(x, axis=1)
    np.testing.assert_allclose(at_ranks(x, ordered, sums), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(_at_ranks(x, ordered, sums), expected, rtol=1e-12, atol=1e-14)

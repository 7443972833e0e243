"""Precisions: the same from few rows, where they are narrow, as from the whole covariance."""

import numpy as np
import pytest

from abstain.scores import CannotFitError
from abstain.scores.covariance import ESTIMATES, estimated_covariance, whitening
from abstain.scores.precision import precision


def rows(n, d=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.linspace(0.2, 3, d)


def quadratic(found, v):
    return found.of(v, v @ found.matrix)


@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("n", [1, 2, 5, 6, 7, 40])
def test_it_is_the_inverse_of_the_whole_covariance(n, estimate):
    centred, v = rows(n), rows(20, seed=1)
    root = whitening(estimated_covariance(centred, estimate))
    found = precision(centred, estimate)
    assert found.matrix.shape[1] == (n if n <= 6 else 12)
    np.testing.assert_allclose(quadratic(found, v), np.square(v @ root).sum(axis=1), rtol=1e-8)


@pytest.mark.parametrize("n", [5, 40])
def test_distances_differ_by_twice_what_is_towards_the_means(n):
    found, x, means = precision(rows(n), "ledoit_wolf"), rows(8, seed=1), rows(4, seed=2)
    slopes, halves = found.towards(means)
    expected = np.stack([quadratic(found, x - mean) for mean in means], axis=1)
    np.testing.assert_allclose(quadratic(found, x)[:, None] - 2 * (x @ slopes - halves), expected, rtol=1e-9)


@pytest.mark.parametrize("n", [3, 40])
def test_no_variance_at_all_is_refused(n):
    with pytest.raises(CannotFitError, match="do not vary"):
        precision(np.zeros((n, 12)), "ledoit_wolf")

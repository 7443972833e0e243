"""Covariances and a root of their inverse."""

import numpy as np
import pytest

from abstain.scores import CannotFitError
from abstain.scores.covariance import empirical_covariance, whitening


def rows(n=80, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d))


def test_whitening_is_a_root_of_the_inverse():
    covariance = empirical_covariance(rows())
    matrix = whitening(covariance)
    np.testing.assert_allclose(matrix @ matrix.T, np.linalg.inv(covariance), rtol=1e-9)


def test_a_direction_without_variance_counts_for_a_millionth_of_the_mean():
    covariance = np.diag([2.0, 1.0, 0.0])
    matrix = whitening(covariance)
    np.testing.assert_allclose(matrix @ matrix.T, np.diag([0.5, 1.0, 1e6]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_whitening_is_continuous_where_a_direction_becomes_too_small(factor):
    covariance = np.diag([1.0, 1.0, factor * 2e-6 / 3])
    matrix = whitening(covariance)
    np.testing.assert_allclose((matrix @ matrix.T)[2, 2], 1.5e6, rtol=0.02)


def test_no_variance_at_all_is_refused():
    with pytest.raises(CannotFitError, match="do not vary"):
        whitening(np.zeros((3, 3)))


def test_many_features_are_whitened_by_halves():
    rng = np.random.default_rng(4)
    covariance = np.cov(rng.normal(size=(500, 150)) @ rng.normal(size=(150, 150)), rowvar=False)
    matrix = whitening(covariance)
    np.testing.assert_allclose(matrix.T @ covariance @ matrix, np.eye(150), atol=1e-8)

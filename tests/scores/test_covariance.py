"""Covariances, their inverses and principal axes against scikit-learn and NumPy."""

import numpy as np
import pytest

from abstain.scores import CannotFitError
from abstain.scores.covariance import (
    ESTIMATES,
    are_few,
    estimated_covariance,
    precision,
    principal_axes,
    whitening,
)


def rows(n=80, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d))


def test_whitening_is_a_root_of_the_inverse():
    covariance = estimated_covariance(rows(), "empirical")
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


def scaled_rows(n, d=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.linspace(0.2, 3, d)


def quadratic(result, v):
    return result.of(v, v @ result.matrix)


@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("n", [1, 2, 5, 6, 7, 40])
def test_it_is_the_inverse_of_the_whole_covariance(n, estimate):
    centred, v = scaled_rows(n), scaled_rows(20, seed=1)
    root = whitening(estimated_covariance(centred, estimate))
    result = precision(centred, estimate)
    assert result.matrix.shape[1] == (n if n <= 6 else 12)
    np.testing.assert_allclose(quadratic(result, v), np.square(v @ root).sum(axis=1), rtol=1e-8)


@pytest.mark.parametrize("n", [5, 40])
def test_distances_differ_by_twice_what_is_towards_the_means(n):
    result, x, means = precision(scaled_rows(n), "ledoit_wolf"), scaled_rows(8, seed=1), scaled_rows(4, seed=2)
    slopes, halves = result.towards(means)
    expected = np.stack([quadratic(result, x - mean) for mean in means], axis=1)
    np.testing.assert_allclose(quadratic(result, x)[:, None] - 2 * (x @ slopes - halves), expected, rtol=1e-9)


@pytest.mark.parametrize("n", [3, 40])
def test_the_precision_of_no_variance_is_refused(n):
    with pytest.raises(CannotFitError, match="do not vary"):
        precision(np.zeros((n, 12)), "ledoit_wolf")


@pytest.mark.parametrize(("n", "d"), [(40, 6), (6, 6), (3, 6), (1, 6)])
def test_values_and_axes_make_the_second_moment(n, d):
    rows = np.random.default_rng(n).normal(size=(n, d))
    values, axes = principal_axes(rows)
    assert len(values) == (n if are_few(n, d) else d)
    assert (np.diff(values) <= 0).all()
    np.testing.assert_allclose(axes @ axes.T, np.eye(len(values)), atol=1e-12)
    np.testing.assert_allclose((axes.T * values) @ axes, rows.T @ rows / n, atol=1e-12)

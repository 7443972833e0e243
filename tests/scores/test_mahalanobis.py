"""Gaussians: means by class, whitening, and distances without what cancels."""

import numpy as np
import pytest

from abstain.scores import CannotFitError
from abstain.scores.mahalanobis import class_means, empirical_covariance, towards, whitening


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


def test_means_are_those_of_each_class_in_the_order_of_labels():
    x, labels = rows(9), np.array([7, 2, 2, 7, 0, 7, 2, 0, 0])
    means, centred = class_means(x, labels)
    for mean, label in zip(means, (0, 2, 7), strict=True):
        np.testing.assert_allclose(mean, x[labels == label].mean(0))
        np.testing.assert_allclose(centred[labels == label], x[labels == label] - mean)


def test_distances_differ_by_twice_what_is_towards_the_means():
    x, means, matrix = rows(5), rows(4, seed=1), whitening(empirical_covariance(rows(seed=2)))
    slopes, halves = towards(means, matrix)
    white = np.square((x[:, None] - means[None]) @ matrix).sum(2)
    expected = np.square(x @ matrix).sum(1)[:, None] - 2 * (x @ slopes - halves)
    np.testing.assert_allclose(white, expected, rtol=1e-9, atol=1e-9)


def test_many_features_are_whitened_by_halves():
    rng = np.random.default_rng(4)
    covariance = np.cov(rng.normal(size=(500, 150)) @ rng.normal(size=(150, 150)), rowvar=False)
    matrix = whitening(covariance)
    np.testing.assert_allclose(matrix.T @ covariance @ matrix, np.eye(150), atol=1e-8)

"""Gaussians: means by class."""

import numpy as np

from abstain.scores.mahalanobis import class_means


def test_means_are_those_of_each_class_in_the_order_of_labels():
    x = np.random.default_rng(0).normal(size=(9, 6))
    labels = np.array([7, 2, 2, 7, 0, 7, 2, 0, 0])
    means, centred = class_means(x, labels)
    for mean, label in zip(means, (0, 2, 7), strict=True):
        np.testing.assert_allclose(mean, x[labels == label].mean(0))
        np.testing.assert_allclose(centred[labels == label], x[labels == label] - mean)

"""Centred powers and boundary distances against NumPy."""

import numpy as np
import pytest

from abstain._kernels.logit_geometry import boundary_distances, centred_sums


@pytest.mark.parametrize("classes", [3, 16, 35])
@pytest.mark.parametrize("power", [1, 2, 7])
def test_sums_agree_with_numpy(classes, power):
    z = np.random.default_rng(classes).normal(size=(40, classes))
    z[::3, 0] = -np.inf
    centred = np.where(z > -np.inf, z, np.nan)
    centred -= np.nanmean(centred, axis=1, keepdims=True)
    size = np.nanmax(centred if power == 1 else np.abs(centred), axis=1)
    top, computed_size, total = centred_sums(z, power)
    np.testing.assert_allclose(top, np.nanmax(centred, axis=1), rtol=1e-12)
    np.testing.assert_allclose(computed_size, size, rtol=1e-12)
    np.testing.assert_allclose(total, np.nansum((np.abs(centred) / size[:, None]) ** power, axis=1))


def test_equal_logits_have_no_size():
    top, size, total = centred_sums(np.full((1, 5), 3.0), 2)
    assert top[0] == size[0] == 0
    assert total[0] == 1


@pytest.mark.parametrize("classes", [2, 16, 37])
def test_distances_agree_with_numpy(classes):
    rng = np.random.default_rng(classes)
    z, inverse = rng.normal(size=(50, classes)).astype(np.float32), rng.random((classes, classes))
    np.fill_diagonal(inverse, 0)
    z[:5, 0] = -np.inf
    prediction = z.argmax(1)
    apart = z.max(1, keepdims=True).astype(np.float64) - np.where(z > -np.inf, z, 0)
    counts = (inverse[prediction] > 0) & (z > -np.inf)
    distances = np.where(counts, apart * inverse[prediction], np.nan)
    smallest, mean = boundary_distances(z, prediction, inverse)
    some = counts.any(axis=1)
    np.testing.assert_array_equal(smallest[some], np.nanmin(distances[some], axis=1))
    np.testing.assert_allclose(mean[some], np.nanmean(distances[some], axis=1), rtol=1e-13)
    assert np.isinf(smallest[~some]).all()
    assert np.isinf(mean[~some]).all()

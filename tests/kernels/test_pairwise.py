import numpy as np
import pytest

from abstain.kernels.pairwise import boundary_distances


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

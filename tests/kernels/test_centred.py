import numpy as np
import pytest

from abstain.kernels.centred import centred_sums


@pytest.mark.parametrize("classes", [3, 16, 35])
@pytest.mark.parametrize("power", [1, 2, 7])
def test_sums_agree_with_numpy(classes, power):
    z = np.random.default_rng(classes).normal(size=(40, classes))
    z[::3, 0] = -np.inf
    centred = np.where(z > -np.inf, z, np.nan)
    centred -= np.nanmean(centred, axis=1, keepdims=True)
    size = np.nanmax(centred if power == 1 else np.abs(centred), axis=1)
    top, found_size, total = centred_sums(z, power)
    np.testing.assert_allclose(top, np.nanmax(centred, axis=1), rtol=1e-12)
    np.testing.assert_allclose(found_size, size, rtol=1e-12)
    np.testing.assert_allclose(total, np.nansum((np.abs(centred) / size[:, None]) ** power, axis=1))


def test_equal_logits_have_no_size():
    top, size, total = centred_sums(np.full((1, 5), 3.0), 2)
    assert top[0] == size[0] == 0
    assert total[0] == 1

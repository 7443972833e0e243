"""The quantile is that of NumPy in float64."""

import numpy as np
import pytest

from abstain.scores.operations import quantile


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("share", [1e-9, 0.25, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (7, 13), (50, 40)])
def test_it_agrees_with_numpy(dtype, share, shape):
    values = np.random.default_rng(0).normal(size=shape).astype(dtype)
    kept = values.copy()
    assert quantile(values, share) == pytest.approx(np.quantile(values.astype(np.float64), share), rel=1e-13)
    np.testing.assert_array_equal(values, kept)

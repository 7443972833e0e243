import numpy as np
import pytest

from abstain.kernels.sorting import sort_floats

RNG = np.random.default_rng(0)
N = 3_000
VALUES = {
    "smooth": RNG.normal(size=N),
    "ties": RNG.normal(size=N).round(1),
    "apart in the last bits": 1 + RNG.integers(5000, size=N) * 2.0**-52,
    "near one and near none": np.concatenate([RNG.random(100), 1 - RNG.exponential(1e-13, size=N)]),
    "every size": np.exp(RNG.normal(size=N) * 100) * RNG.choice([-1, 1], size=N),
    "limits": RNG.choice([np.inf, -np.inf, 0.0, 5e-324, -5e-324, 1.7e308, -1.7e308], size=N),
    "one value": np.full(40, -0.5),
    "zeros": np.zeros(9),
    "one": np.array([0.3]),
    "none": np.empty(0),
}


@pytest.mark.parametrize("few", [0, 1 << 14])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_the_order_is_that_of_numpy(values, dtype, few, monkeypatch):
    monkeypatch.setattr("abstain.kernels.sorting.FEW", few)
    with np.errstate(over="ignore"):
        given = values.astype(dtype)
    found = sort_floats(given.copy())
    assert found.dtype == dtype
    np.testing.assert_array_equal(
        found.view(f"u{given.itemsize}"), np.sort(given + dtype(0)).view(f"u{given.itemsize}")
    )


def test_signed_zeros_are_one():
    assert not np.signbit(sort_floats(np.array([0.0, -0.0]))).any()

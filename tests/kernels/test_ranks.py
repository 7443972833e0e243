import numpy as np
import pytest

from abstain.kernels.ranks import order_rows

RNG = np.random.default_rng(0)
N = 5_000
CONFIDENCES = {
    "smooth": RNG.normal(size=N),
    "negative": -RNG.exponential(size=N),
    "ties": RNG.normal(size=N).round(1),
    "apart in the last bit": 1 + RNG.integers(50, size=N) * 2.0**-52,  # long runs of equal leading bits
    "two binades of last bits": RNG.choice([1.0, -1.0], size=N) * (1 + RNG.integers(3, size=N) * 2.0**-52),
    "every size": np.exp(RNG.normal(size=N) * 100) * RNG.choice([-1, 1], size=N),
    "limits": RNG.choice([np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 1.7e308], size=N),
    "one row": np.array([0.3]),
    "one value": np.full(40, -0.5),
}


@pytest.mark.parametrize("few", [0, 1 << 13])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("confidence", CONFIDENCES.values(), ids=CONFIDENCES)
def test_groups_are_numbered_in_the_exact_order(confidence, dtype, few, monkeypatch):
    monkeypatch.setattr("abstain.kernels.ranks.FEW", few)
    with np.errstate(over="ignore"):
        c = confidence.astype(dtype)
    group, counts, examples = order_rows(c).numbers()
    distinct, expected, expected_counts = np.unique(-c, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(group, expected)
    np.testing.assert_array_equal(counts, expected_counts)
    np.testing.assert_array_equal(c[examples], -distinct)


@pytest.mark.parametrize("few", [0, 1 << 13])
@pytest.mark.parametrize("confidence", CONFIDENCES.values(), ids=CONFIDENCES)
def test_some_of_the_rows_are_in_the_order_of_their_own(confidence, few, monkeypatch):
    monkeypatch.setattr("abstain.kernels.ranks.FEW", few)
    chosen = np.arange(len(confidence)) % 3 != 1
    place = np.where(chosen, np.cumsum(chosen) - 1, -1)
    among, own = order_rows(confidence).among(place, chosen.sum()), order_rows(confidence[chosen])
    np.testing.assert_array_equal(among.begins, own.begins)
    for mine, alone in zip(among.numbers()[:2], own.numbers()[:2], strict=True):
        np.testing.assert_array_equal(mine, alone)

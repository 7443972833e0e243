"""The search gives the exact neighbours, whichever engine finds the candidates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain.scores import neighbours
from abstain.scores.neighbours import Neighbours


@pytest.fixture(params=["faiss", "blas"])
def engine(request, monkeypatch):
    if request.param == "blas":
        monkeypatch.setattr(neighbours, "find_spec", lambda _: None)
    else:
        assert neighbours.find_spec("faiss") is not None
    return request.param


def brute_force(queries, bank, k):
    distances = ((queries[:, None].astype(np.float64) - bank[None].astype(np.float64)) ** 2).sum(2)
    return np.sort(distances, axis=1)[:, :k]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_are_exact(dtype):
    rng = np.random.default_rng(0)
    bank, queries = rng.normal(size=(300, 20)).astype(dtype), rng.normal(size=(90, 20)).astype(dtype)
    np.testing.assert_allclose(Neighbours(bank).distances(queries, 3), brute_force(queries, bank, 3), rtol=1e-12)


@pytest.mark.usefixtures("engine")
def test_neighbours_too_close_for_float32_are_told_apart():
    """A hundred bank rows that are one and the same to float32."""
    rng = np.random.default_rng(1)
    bank = 1 + 1e-12 * rng.normal(size=(100, 4))
    queries = rng.normal(size=(10, 4))
    found = Neighbours(bank).distances(queries, 2)
    np.testing.assert_array_equal(found, brute_force(queries, bank, 2))


def test_both_engines_give_the_same_bits(monkeypatch):
    rng = np.random.default_rng(2)
    bank, queries = rng.normal(size=(500, 30)), rng.normal(size=(200, 30))
    first = Neighbours(bank).distances(queries, 5), Neighbours(bank).products(queries, 5)
    monkeypatch.setattr(neighbours, "find_spec", lambda _: None)
    for a, b in zip(
        first, (Neighbours(bank).distances(queries, 5), Neighbours(bank).products(queries, 5)), strict=True
    ):
        np.testing.assert_array_equal(a, b)


@pytest.mark.usefixtures("engine")
def test_blocks_do_not_matter(monkeypatch):
    rng = np.random.default_rng(3)
    bank, queries = rng.normal(size=(70, 8)), rng.normal(size=(50, 8))
    whole = Neighbours(bank).distances(queries, 2), Neighbours(bank).products(queries, 2)
    monkeypatch.setattr(neighbours, "QUERIES", 7)
    monkeypatch.setattr(neighbours, "BANK", 11)
    for a, b in zip(
        whole, (Neighbours(bank).distances(queries, 2), Neighbours(bank).products(queries, 2)), strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_a_large_common_part_does_not_slow_the_search():
    """Normalized rows that are nearly the same: the float32 search alone could settle none of them."""
    rng = np.random.default_rng(4)
    bank, queries = 100 + rng.normal(size=(3000, 64)), 100 + rng.normal(size=(50, 64))
    asked = []
    original = neighbours._exact

    def counted(measure, q, rows, index):
        asked.append(index.size)
        return original(measure, q, rows, index)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "_exact", counted)
        found = Neighbours(bank).distances(queries, 2)
    np.testing.assert_allclose(found, brute_force(queries, bank, 2), rtol=1e-9)
    assert sum(asked) < 50 * 100  # far from 50 × 3000


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 1000))
def test_small_banks_and_ties(size, d, seed):
    rng = np.random.default_rng(seed)
    bank, queries = rng.integers(3, size=(size, d)).astype(float), rng.integers(3, size=(6, d)).astype(float)
    np.testing.assert_allclose(Neighbours(bank).distances(queries, size), brute_force(queries, bank, size))
    products = -np.sort(-(queries @ bank.T), axis=1)
    np.testing.assert_allclose(Neighbours(bank).products(queries, size), products)

"""The search gives the exact neighbours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain.scores import neighbours
from abstain.scores.neighbours import Neighbours, _Search


def brute_force(queries, bank, k):
    distances = ((queries[:, None].astype(np.float64) - bank[None].astype(np.float64)) ** 2).sum(2)
    return np.sort(distances, axis=1)[:, :k]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_are_exact(dtype):
    rng = np.random.default_rng(0)
    bank, queries = rng.normal(size=(300, 20)).astype(dtype), rng.normal(size=(90, 20)).astype(dtype)
    np.testing.assert_allclose(Neighbours(bank).distances(queries, 3), brute_force(queries, bank, 3), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-35, 1e-25, 1e19, 1e30])
def test_sizes_whose_squares_float32_cannot_hold_change_nothing(size, dtype):
    rng = np.random.default_rng(6)
    bank, queries = ((size * rng.normal(size=(n, 8))).astype(dtype) for n in (200, 50))
    bank[0] *= 1e-3
    np.testing.assert_allclose(Neighbours(bank).distances(queries, 3), brute_force(queries, bank, 3), rtol=1e-12)
    products = queries.astype(np.float64) @ bank.astype(np.float64).T
    np.testing.assert_allclose(Neighbours(bank).products(queries, 3), -np.sort(-products, axis=1)[:, :3], rtol=1e-12)


@pytest.mark.parametrize("far", [1e-30, 1e12, 1e25, 1e60])
def test_one_row_may_be_far_from_all_others(far):
    rng = np.random.default_rng(7)
    bank, queries = rng.normal(size=(200, 8)), rng.normal(size=(50, 8))
    for rows in (bank, queries):
        rows[3] *= far
        np.testing.assert_allclose(Neighbours(bank).distances(queries, 3), brute_force(queries, bank, 3), rtol=1e-12)
        products = -np.sort(-(queries @ bank.T), axis=1)[:, :3]
        np.testing.assert_allclose(Neighbours(bank).products(queries, 3), products, rtol=1e-9)


def test_neighbours_too_close_for_float32_are_told_apart():
    """A hundred bank rows that are one and the same to float32."""
    rng = np.random.default_rng(1)
    bank = 1 + 1e-12 * rng.normal(size=(100, 4))
    queries = rng.normal(size=(10, 4))
    found = Neighbours(bank).distances(queries, 2)
    np.testing.assert_allclose(found, brute_force(queries, bank, 2), rtol=1e-15)


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


def measured_again(monkeypatch, bank, queries):
    """How many rows the float32 search did not settle."""
    asked = []
    original = _Search._all_above

    def counted(self, q, *rest):
        asked.append(len(q))
        return original(self, q, *rest)

    monkeypatch.setattr(_Search, "_all_above", counted)
    found = Neighbours(bank).distances(queries, 2)
    np.testing.assert_allclose(found, brute_force(queries, bank, 2), rtol=1e-9)
    return sum(asked)


def test_a_large_common_part_does_not_slow_the_search(monkeypatch):
    """Rows that are nearly the same: without a centre the float32 search could settle none of them."""
    rng = np.random.default_rng(4)
    bank, queries = 100 + rng.normal(size=(3000, 64)), 100 + rng.normal(size=(50, 64))
    assert measured_again(monkeypatch, bank, queries) < 5


def test_candidates_that_float32_cannot_tell_apart_are_all_measured(monkeypatch):
    """Far more rows of equal float32 distance than there are candidates, the nearest of them last in the bank."""
    rng = np.random.default_rng(5)
    bank = np.concatenate([rng.normal(size=(20, 6)), 1 + np.linspace(1e-9, 1e-10, 60)[:, None] * np.ones(6)])
    assert measured_again(monkeypatch, bank, np.ones((9, 6))) == 9


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 1000))
def test_small_banks_and_ties(size, d, seed):
    rng = np.random.default_rng(seed)
    bank, queries = rng.integers(3, size=(size, d)).astype(float), rng.integers(3, size=(6, d)).astype(float)
    np.testing.assert_allclose(Neighbours(bank).distances(queries, size), brute_force(queries, bank, size))
    products = -np.sort(-(queries @ bank.T), axis=1)
    np.testing.assert_allclose(Neighbours(bank).products(queries, size), products)

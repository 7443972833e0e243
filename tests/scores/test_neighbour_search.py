"""The search gives the exact neighbours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain.scores import neighbour_search
from abstain.scores.neighbour_search import Bank, Search, _Block


def brute_force(queries, bank, k):
    distances = ((queries[:, None].astype(np.float64) - bank[None].astype(np.float64)) ** 2).sum(2)
    return np.sort(distances, axis=1)[:, :k]


def distances(bank, queries, k):
    return Search(Bank(bank), queries).distances(k)


def products(bank, queries, k):
    return Search(Bank(bank), queries).products(np.ones(len(bank)), k)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_are_exact(dtype):
    rng = np.random.default_rng(0)
    bank, queries = rng.normal(size=(300, 20)).astype(dtype), rng.normal(size=(90, 20)).astype(dtype)
    np.testing.assert_allclose(distances(bank, queries, 3), brute_force(queries, bank, 3), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-35, 1e-25, 1e19, 1e30])
def test_sizes_whose_squares_float32_cannot_hold_change_nothing(size, dtype):
    rng = np.random.default_rng(6)
    bank, queries = ((size * rng.normal(size=(n, 8))).astype(dtype) for n in (200, 50))
    bank[0] *= 1e-3
    np.testing.assert_allclose(distances(bank, queries, 3), brute_force(queries, bank, 3), rtol=1e-12)
    expected = -np.sort(-(queries.astype(np.float64) @ bank.astype(np.float64).T), axis=1)[:, :3]
    np.testing.assert_allclose(products(bank, queries, 3), expected, rtol=1e-12)


@pytest.mark.parametrize("far", [1e-30, 1e12, 1e25, 1e60])
def test_one_row_may_be_far_from_all_others(far):
    rng = np.random.default_rng(7)
    bank, queries = rng.normal(size=(200, 8)), rng.normal(size=(50, 8))
    for rows in (bank, queries):
        rows[3] *= far
        np.testing.assert_allclose(distances(bank, queries, 3), brute_force(queries, bank, 3), rtol=1e-12)
        expected = -np.sort(-(queries @ bank.T), axis=1)[:, :3]
        np.testing.assert_allclose(products(bank, queries, 3), expected, rtol=1e-9)


def test_neighbours_too_close_for_float32_are_told_apart():
    """A hundred bank rows that are one and the same to float32."""
    rng = np.random.default_rng(1)
    bank = 1 + 1e-12 * rng.normal(size=(100, 4))
    queries = rng.normal(size=(10, 4))
    result = distances(bank, queries, 2)
    np.testing.assert_allclose(result, brute_force(queries, bank, 2), rtol=1e-15)


def test_blocks_do_not_matter(monkeypatch):
    rng = np.random.default_rng(3)
    bank, queries = rng.normal(size=(70, 8)), rng.normal(size=(50, 8))
    whole = distances(bank, queries, 2), products(bank, queries, 2)
    monkeypatch.setattr(neighbour_search, "PRODUCTS", 7 * 70)
    for a, b in zip(whole, (distances(bank, queries, 2), products(bank, queries, 2)), strict=True):
        np.testing.assert_array_equal(a, b)


def measured_again(monkeypatch, bank, queries):
    """How many rows the float32 search did not settle."""
    asked = []
    original = _Block._measure_near

    def counted(self, measure, rows, fewest, *others):
        asked.append(0 if fewest else len(rows))
        original(self, measure, rows, fewest, *others)

    monkeypatch.setattr(_Block, "_measure_near", counted)
    result = distances(bank, queries, 2)
    np.testing.assert_allclose(result, brute_force(queries, bank, 2), rtol=1e-9)
    return sum(asked)


def test_a_large_common_part_does_not_slow_the_search(monkeypatch):
    """Rows that are nearly the same: without a centre the float32 search could settle none of them."""
    rng = np.random.default_rng(4)
    bank, queries = 100 + rng.normal(size=(3000, 64)), 100 + rng.normal(size=(50, 64))
    assert measured_again(monkeypatch, bank, queries) < 5


def test_candidates_that_float32_cannot_tell_apart_are_all_measured(monkeypatch):
    """Far more rows than there are candidates, whose distances differ by less than float32 can tell."""
    rng = np.random.default_rng(5)
    bank = np.concatenate([rng.normal(size=(20, 64)), 1 + 1e-7 * rng.normal(size=(600, 64))])
    assert measured_again(monkeypatch, bank, 1 + 1e-7 * rng.normal(size=(9, 64))) == 9


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("common", [0, 3])
def test_products_with_weights_are_exact(size, common):
    """Weights of either sign; a part that all rows have in common goes through the centre of the bank."""
    rng = np.random.default_rng(8)
    bank, queries = common + rng.normal(size=(500, 12)), common + rng.normal(size=(60, 12))
    weights = size * rng.normal(size=500)
    expected = -np.sort(-(queries @ bank.T * weights), axis=1)[:, :4]
    np.testing.assert_allclose(Search(Bank(bank), queries).products(weights, 4), expected, rtol=1e-12)


def test_weighted_products_too_close_for_float32_are_told_apart():
    rng = np.random.default_rng(9)
    bank, queries = 1 + 1e-12 * rng.normal(size=(100, 4)), rng.normal(size=(10, 4))
    weights = 1 + 1e-12 * rng.normal(size=100)
    expected = -np.sort(-(queries @ bank.T * weights), axis=1)[:, :2]
    np.testing.assert_allclose(Search(Bank(bank), queries).products(weights, 2), expected, rtol=4e-15)


@pytest.mark.parametrize("ends", [(0, 30), (30, 100), (99, 100)])
def test_neighbours_are_sought_among_some_rows_of_the_bank(ends):
    rng = np.random.default_rng(10)
    bank, queries = rng.normal(size=(100, 5)), rng.normal(size=(40, 5))
    result = Search(Bank(bank), queries).distances(1, first=ends[0], last=ends[1])
    np.testing.assert_allclose(result, brute_force(queries, bank[slice(*ends)], 1), rtol=1e-12)


def test_one_product_serves_every_question(monkeypatch):
    made, original = [], _Block.__init__

    def counted(self, *parts):
        made.append(self)
        original(self, *parts)

    monkeypatch.setattr(_Block, "__init__", counted)
    rng = np.random.default_rng(11)
    search = Search(Bank(rng.normal(size=(50, 5))), rng.normal(size=(20, 5)))
    search.distances(2)
    search.distances(1, last=9)
    search.products(np.ones(50), 3)
    assert len(made) == 1


def test_weights_must_be_one_for_each_row():
    search = Search(Bank(np.ones((5, 2))), np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"`weights` must be one for each of 5 rows, got shape \(4,\)"):
        search.products(np.ones(4), 1)


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 1000))
def test_small_banks_and_ties(size, d, seed):
    rng = np.random.default_rng(seed)
    bank, queries = rng.integers(3, size=(size, d)).astype(float), rng.integers(3, size=(6, d)).astype(float)
    np.testing.assert_allclose(distances(bank, queries, size), brute_force(queries, bank, size))
    expected = -np.sort(-(queries @ bank.T), axis=1)
    np.testing.assert_allclose(products(bank, queries, size), expected)


def test_a_small_bank_that_float32_cannot_settle_is_measured_again(monkeypatch):
    bank = np.concatenate([np.ones((1, 4)), 1 + 1e-9 * np.random.default_rng(12).normal(size=(9, 4))])
    monkeypatch.setattr(_Block, "_needed", lambda _, __, worst: np.full(len(worst), -np.inf))
    np.testing.assert_allclose(distances(bank, bank, 2), brute_force(bank, bank, 2), rtol=1e-9, atol=1e-30)

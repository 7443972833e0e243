"""Exact nearest-neighbour search: candidates by float32 BLAS, their order settled in float64.

Rounding in the float32 search could lose a true neighbour. Where the worst candidate is too close to call, by a bound
on that rounding, every row of the bank within the bound is measured in float64. The result is that of a search in
float64, whatever the blocks.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.blocks import for_each_block
from abstain.kernels.compiled import as_given
from abstain.kernels.neighbours import TOGETHER, keep_largest, measure_above, measure_some
from abstain.scores.namespace import array_namespace
from abstain.scores.operations import at_least, constant

Array = NDArray[np.floating]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
SPARE = 6  # candidates beyond k
QUERIES, BANK = 1024, 8192  # 32 MB of products
FAR = 2.0**100  # times as far as the bank is wide: float64 cannot tell distances to its rows apart


class Neighbours:
    """A bank of rows (m, d) to search, on arrays of any library; what the search needs is prepared once."""

    def __init__(self, bank: Array) -> None:
        self.bank = bank

    def distances(self, rows: Any, k: int, /) -> Any:
        """Squared distances (n, k), ascending, from each row to its k nearest in the bank."""
        self._check(k)
        if isinstance(rows, np.ndarray):
            return self._nearest.best(rows, k)
        xp = array_namespace(rows)
        b = constant(self.bank, rows)
        apart = xp.sum(rows * rows, axis=1)[:, None] - 2 * (rows @ b.T) + xp.sum(b * b, axis=1)[None, :]
        return at_least(xp.sort(apart, axis=1)[:, :k], 0.0)

    def products(self, rows: Any, k: int, /) -> Any:
        """Inner products (n, k), descending, of each row with the k of the bank where they are largest."""
        self._check(k)
        if isinstance(rows, np.ndarray):
            return -self._largest.best(rows, k)
        return -array_namespace(rows).sort(-(rows @ constant(self.bank, rows).T), axis=1)[:, :k]

    def _check(self, k: int) -> None:
        if not 1 <= k <= len(self.bank):
            raise ValueError(f"`k` must be from 1 to the {len(self.bank)} rows there are, got {k}.")

    @cached_property
    def _nearest(self) -> "_Search":
        return _Search(self.bank, by_distance=True)

    @cached_property
    def _largest(self) -> "_Search":
        return _Search(self.bank, by_distance=False)


class _Search:
    """The k lowest squared distances to a bank, or of minus the products with it.

    Both fall with ⟨q, b⟩ − h, where h = ‖b‖²/2 for distances and 0 for products. Distances do not change when the
    centre of the bank is taken from both sides, which leaves float32 more digits for what tells rows apart. Powers of
    two bring both sides into the range of float32 without a change of digits.
    """

    def __init__(self, bank: Array, *, by_distance: bool) -> None:
        self.bank, self.by_distance = as_given(bank), by_distance
        m, d = bank.shape
        self.centre = bank.mean(axis=0, dtype=np.float64) if by_distance else np.zeros(d)
        self.scale = _towards_one(np.asarray(max(bank.max(), -bank.min()), dtype=np.float64))
        self.moved, norms, _ = self._centred(self.bank, lambda norms: np.full(len(norms), self.scale))
        self.halves = (np.square(norms) / 2 if by_distance else np.zeros(m)).astype(np.float32)
        self.longest = norms.max()
        self.rounding = (
            d + 8
        ) * 2.0**-24  # relative, of a float32 product of d terms, a subtraction and both roundings

    def best(self, queries: Array, k: int) -> Floats:
        """The k lowest (n, k), ascending."""
        found = np.empty((len(queries), k))
        space = np.empty(min(QUERIES, len(queries)) * min(BANK, len(self.bank)), dtype=np.float32)
        for start in range(0, len(queries), QUERIES):
            block = slice(start, start + QUERIES)
            self._fill(np.ascontiguousarray(queries[block]), found[block], space)
        return found

    def _fill(self, queries: Array, best: Floats, space: Singles) -> None:
        """Measure the candidates, and all that may be better where the last candidate is not surely worse."""
        moved, norms, scales = self._centred(queries, self._scales)
        index, last = self._candidates(moved, min(best.shape[1] + SPARE, len(self.bank)), space)

        def work(rows: slice) -> None:
            measure_some(as_given(queries[rows]), self.bank, index[rows], self.by_distance, best[rows])

        for_each_block(work, len(index), index.shape[1] * queries.shape[1])
        if index.shape[1] < len(self.bank):
            worst = best[:, -1] * scales * self.scale
            needed = (norms**2 - worst) / 2 if self.by_distance else -worst
            cuts = needed - self.rounding * self.longest * (norms + self.longest * self.by_distance)
            near = np.flatnonzero(last >= cuts)
            if near.size:
                best[near] = self._all_above(queries[near], moved[near], cuts[near], best.shape[1], space)

    def _scales(self, norms: Floats) -> Floats:
        """What queries of these norms are multiplied by: for distances the same as the bank."""
        return self.scale / np.maximum(1, norms * self.scale / FAR) if self.by_distance else _towards_one(norms)

    def _centred(self, rows: Array, scaling: Callable[[Floats], Floats]) -> tuple[Singles, Floats, Floats]:
        """Rows less the centre times their scales, the norms of that, and the scales."""
        moved = np.empty(rows.shape, dtype=np.float32)
        norms, scales = np.empty(len(rows)), np.empty(len(rows))

        def work(part: slice) -> None:
            apart = rows[part] - self.centre
            size = np.sqrt(np.einsum("ij,ij->i", apart, apart))
            scales[part] = scaling(size)
            norms[part] = size * scales[part]
            np.multiply(apart, scales[part, None], out=moved[part], casting="same_kind")

        for_each_block(work, *rows.shape)
        return moved, norms, scales

    def _products(self, moved: Singles, space: Singles) -> Iterator[tuple[slice, Singles]]:
        """Products with a part of the bank at a time, each in the same space."""
        for start in range(0, len(self.bank), BANK):
            part = slice(start, min(start + BANK, len(self.bank)))
            shape = len(moved), part.stop - start
            yield part, np.matmul(moved, self.moved[part].T, out=space[: shape[0] * shape[1]].reshape(shape))

    def _candidates(self, moved: Singles, k: int, space: Singles) -> tuple[NDArray[np.int64], Singles]:
        """Index (n, k) of the best rows in float32, and the value of the last of them."""
        values = np.full((len(moved), k), -np.inf, dtype=np.float32)
        index = np.zeros((len(moved), k), dtype=np.int64)
        for part, products in self._products(moved, space):
            halves, start = self.halves[part], part.start

            def work(rows: slice, products: Singles = products, halves: Singles = halves, start: int = start) -> None:
                tops = np.empty(len(halves) // TOGETHER + 1 + k, dtype=np.float32)
                keep_largest(products[rows], halves, start, tops, values[rows], index[rows])

            for_each_block(work, *products.shape)
        return index, values[:, -1]

    def _all_above(self, queries: Array, moved: Singles, cuts: Floats, k: int, space: Singles) -> Floats:
        """The k lowest of all rows of the bank whose float32 value reaches the cut."""
        best = np.full((len(queries), k), np.inf)
        for part, products in self._products(moved, space):
            bank, halves = self.bank[part], self.halves[part]

            def work(rows: slice, products: Singles = products, bank: Array = bank, halves: Singles = halves) -> None:
                measure_above(
                    as_given(queries[rows]), bank, products[rows], halves, cuts[rows], self.by_distance, best[rows]
                )

            for_each_block(work, *products.shape)
        return best


def _towards_one(sizes: Floats) -> Floats:
    """Powers of two that bring sizes to between a half and 1; those whose squares are 0 in float64 stay below."""
    return np.ldexp(1.0, np.minimum(-np.frexp(sizes)[1], 500))

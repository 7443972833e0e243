"""Exact nearest-neighbour search: candidates in float32 by faiss or BLAS, their order settled in float64.

Rounding in the float32 search could lose a true neighbour. A row where the worst candidate is too close to call, by a
bound on that rounding, is searched again in full in float64, so both engines give the same result to the last bit.
"""

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.kernels.blocks import for_each_block
from abstain.kernels.neighbours import exact_distances, exact_products, merge_largest
from abstain.scores.operations import at_least, constant

Array = NDArray[np.floating]
Floats = NDArray[np.float64]
SPARE = 6  # candidates beyond k
QUERIES = 4096
BANK = 8192


def _norms(rows: Array) -> Floats:
    return np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))


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
        bank = self.bank
        centre = bank.mean(axis=0, dtype=np.float64)
        if np.square(centre).sum() < 0.1 * np.square(bank, dtype=np.float64).sum(axis=1).mean():
            centre[:] = 0.0  # only a large common part costs the float32 search its precision
        moved = bank - centre
        squares = np.square(moved).sum(axis=1)
        largest = squares.max()
        alike = largest - squares.min() <= 1e-6 * largest
        # ⟨q, b⟩ − ‖b‖²/2 falls with the distance, and so does ⟨q, b⟩ alone among rows of one length.
        candidates = _Candidates(moved if alike else np.column_stack([moved, -squares / 2]), centre, extra=not alike)
        offset = largest if alike else 0.0

        def is_settled(norms: Floats, last: Floats, worst: Floats) -> NDArray[np.bool_]:
            slack = _rounding(bank.shape[1]) * (norms * np.sqrt(largest) + largest) + 1e-6 * offset
            return last + slack < (norms**2 + offset - worst) / 2

        return _Search(bank, candidates, exact_distances, is_settled)

    @cached_property
    def _largest(self) -> "_Search":
        bank = self.bank
        largest = np.sqrt(np.square(bank, dtype=np.float64).sum(axis=1).max())

        def is_settled(norms: Floats, last: Floats, worst: Floats) -> NDArray[np.bool_]:
            return last + _rounding(bank.shape[1]) * norms * largest < -worst

        return _Search(bank, _Candidates(bank, np.zeros(bank.shape[1]), extra=False), exact_products, is_settled)


@dataclass(frozen=True)
class _Search:
    """Candidates, the exact measure, lower = better, and when the candidates are sure to hold the best."""

    bank: Array
    candidates: "_Candidates"
    measure: Any
    is_settled: Any

    def best(self, queries: Array, k: int) -> Floats:
        """The k lowest measures of each query: of the candidates, or of the whole bank where that is not settled."""
        found = np.empty((len(queries), k))
        for start in range(0, len(queries), QUERIES):
            q = np.ascontiguousarray(queries[start : start + QUERIES])
            index, last, norms = self.candidates.best(q, k + SPARE)
            values = np.sort(_exact(self.measure, q, self.bank, index), axis=1)[:, :k]
            if index.shape[1] < len(self.bank):
                for row in np.flatnonzero(~self.is_settled(norms, last, values[:, -1])):
                    every = _exact(self.measure, q[row : row + 1], self.bank, np.arange(len(self.bank))[None])[0]
                    values[row] = np.sort(np.partition(every, k - 1)[:k])
            found[start : start + len(q)] = values
        return found


def _rounding(d: int) -> float:
    """Bound on the relative error of a float32 inner product of d terms."""
    return (d + 8) * 2.0**-24


def _exact(settle: Any, queries: Array, bank: Array, index: NDArray[np.int64]) -> Floats:
    values = np.empty(index.shape)

    def work(block: slice) -> None:
        settle(queries[block], bank, index[block], values[block])

    for_each_block(work, len(index), index.shape[1] * queries.shape[1])
    return values


class _Candidates:
    """Search of a bank for the rows of largest inner product, in float32."""

    def __init__(self, bank: Array, centre: Floats, *, extra: bool) -> None:
        self.bank = np.ascontiguousarray(bank, dtype=np.float32)
        self.centre = centre
        self.extra = extra
        self.index: Any = None
        if find_spec("faiss") is not None:
            import faiss

            self.index = faiss.IndexFlatIP(self.bank.shape[1])
            self.index.add(self.bank)

    def best(self, queries: Array, k: int) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Index (n, k) of the best rows, the float32 product of the last of them, and the norms of the queries."""
        k = min(k, len(self.bank))
        moved = queries - self.centre if self.centre.any() else queries
        norms = _norms(moved)
        q = moved.astype(np.float32, copy=False)
        if self.extra:
            q = np.column_stack([q, np.ones(len(q), dtype=np.float32)])
        if self.index is not None:
            values, index = self.index.search(np.ascontiguousarray(q), k)
            return index.astype(np.int64), values[:, -1].astype(np.float64), norms
        values = np.full((len(q), k), -np.inf, dtype=np.float32)
        index = np.zeros((len(q), k), dtype=np.int64)
        for start in range(0, len(self.bank), BANK):
            products = q @ self.bank[start : start + BANK].T

            def work(block: slice, products: Any = products, start: int = start) -> None:
                merge_largest(products[block], start, values[block], index[block])

            for_each_block(work, *products.shape)
        return index, values[:, -1].astype(np.float64), norms

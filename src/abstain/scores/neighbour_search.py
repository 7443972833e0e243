"""Exact nearest-neighbour search: candidates by float32 BLAS, their order settled in float64.

Rounding in the float32 search could lose a true neighbour. Where the worst candidate is too close to call, by a bound
on that rounding, every row of the bank within the bound is measured in float64. The result is that of a search in
float64, whatever the blocks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain._kernels.blocks import BLOCK_ROWS, for_each_block
from abstain._kernels.compilation import as_given
from abstain._kernels.neighbours import MeasuredBank, measure_near
from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.operations import array_namespace, at_least, constant, normalized, norms
from abstain.scores.samples import bank_of, features_of, once_per_sample
from abstain.scores.score import Stored

Array = NDArray[np.floating]
Singles = NDArray[np.float32]
SPARE = 3  # candidates beyond k
PRODUCTS = BLOCK_ROWS * 10_000  # at a time, 40 MB
FAR = 2.0**100  # times as far as the bank is wide: distances to its rows are equal in float64


@final
@dataclass(frozen=True, eq=False)
class Bank(Stored):
    """Rows (m, d) to seek neighbours among."""

    rows: NDArray[Any]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def shape(self) -> tuple[int, ...]:
        """(m, d)."""
        return self.rows.shape

    def sought_from(self, inputs: Inputs, space: str, /) -> "Search":
        """The search from the features or logits of inputs, over their norms; one for all scores of the same bank."""
        return inputs.known(self, lambda: Search(self, inputs.units(space, self.rows)))

    @cached_property
    def centred(self) -> "_CentredBank":
        """What a search of NumPy arrays needs, prepared once."""
        return _CentredBank(self.rows)


@once_per_sample
def unit_bank(space: str, sample: Outputs, /) -> Bank:
    """The features or logits of `bank_of` a sample over their norms, one bank for all scores that are fitted on it."""
    rows = bank_of(sample)
    return Bank(normalized(features_of(rows) if space == "features" else rows.logits))


@final
class Search:
    """Neighbours in a bank of rows (n, d) of any library; the products of all pairs serve all that is asked."""

    def __init__(self, bank: Bank, rows: Any, /) -> None:
        self._bank, self._rows = bank, rows

    def distances(self, k: int, /, *, first: int = 0, last: int | None = None) -> Any:
        """Squared distances (n, k), ascending, from each row to its k nearest of those from ``first`` to ``last``."""
        among = range(len(self._bank))[first:last]
        _check(k, len(among))
        if isinstance(self._rows, np.ndarray):
            return self._lowest(self._bank.centred.by_distance(among), k)
        xp, rows = array_namespace(self._rows), self._rows
        b = constant(self._bank.rows, rows)
        apart = xp.sum(rows * rows, axis=1)[:, None] - 2 * self._products + xp.sum(b * b, axis=1)[None, :]
        return at_least(xp.sort(apart[:, among.start : among.stop], axis=1)[:, :k], 0.0)

    def products(self, weights: Floats, k: int, /) -> Any:
        """The k largest (n, k), descending, of the products of each row with the bank times the weights (m,)."""
        _check(k, len(self._bank))
        if weights.shape != (len(self._bank),):
            raise InvalidInputError(
                f"`weights` must be one for each of {len(self._bank)} rows, got shape {weights.shape}."
            )
        if isinstance(self._rows, np.ndarray):
            return -self._lowest(self._bank.centred.by_product(weights), k)
        weighted = self._products * constant(weights[None], self._rows)
        return -array_namespace(weighted).sort(-weighted, axis=1)[:, :k]

    @cached_property
    def _products(self) -> Any:
        return self._rows @ constant(self._bank.rows, self._rows).T

    def _lowest(self, measure: "_Measure", k: int) -> Floats:
        lowest = np.empty((len(self._rows), k))
        for rows, block in self._blocks():
            block.fill(measure, lowest[rows])
        return lowest

    def _blocks(self) -> "Iterator[tuple[slice, _Block]]":
        step = max(1, PRODUCTS // len(self._bank))
        if len(self._rows) <= step:
            yield slice(None), self._only_block
            return
        for start in range(0, len(self._rows), step):
            yield slice(start, start + step), _Block(self._bank.centred, self._rows[start : start + step])

    @cached_property
    def _only_block(self) -> "_Block":
        return _Block(self._bank.centred, self._rows)


def _check(k: int, size: int) -> None:
    if not 1 <= k <= size:
        raise InvalidInputError(f"`k` must be from 1 to the {size} rows there are, got {k}.")


class _Measure(NamedTuple):
    """How far a row q is from rows b of a bank, the lower the nearer, with a float32 value that is the higher then.

    The value is slope · (⟨q, b⟩ + shift) − half, q and b centred and scaled, with the shift of the query or 0.
    """

    weights: Floats
    """(m,) of products, or none (0,) for squared distances."""
    first: int
    slopes: Singles
    """(c,) of the rows from the first on."""
    halves: Singles
    unit: float
    """What a measure is multiplied by, besides the scales of both sides."""
    lift: float
    """The most that the centre adds to a product with a row of the bank."""

    @property
    def by_distance(self) -> bool:
        return not self.weights.size


class _CentredBank:
    """A bank in float32, less its centre, which leaves more digits for the differences between rows.

    Powers of two bring both sides into the range of float32 without a change of digits.
    """

    def __init__(self, bank: Array) -> None:
        self.rows, d = as_given(bank), bank.shape[1]
        self.centre = bank.mean(axis=0, dtype=np.float64)
        self.scale = _towards_one(np.asarray(max(bank.max(), -bank.min()), dtype=np.float64))
        self.moved, self.norms = np.empty(bank.shape, dtype=np.float32), np.empty(len(bank))
        self.lifts = np.empty(len(bank))
        centred = self.centre * self.scale

        def work(part: slice) -> None:
            apart = (self.rows[part] - self.centre) * self.scale
            self.norms[part] = norms(apart)
            self.lifts[part] = apart @ centred + centred @ centred
            self.moved[part] = apart

        for_each_block(work, *bank.shape)
        self.longest = self.norms.max()
        # relative, of a float32 product of d terms, what is done to it and the roundings of both sides
        self.rounding = (d + 8) * 2.0**-24

    def by_distance(self, among: range, /) -> _Measure:
        """‖q − b‖², which falls with ⟨q, b⟩ − ‖b‖²/2."""
        halves = np.square(self.norms[among.start : among.stop]) / 2
        slopes = np.ones(len(among), dtype=np.float32)
        return _Measure(np.empty(0), among.start, slopes, halves.astype(np.float32), 1.0, 0.0)

    def by_product(self, weights: Floats, /) -> _Measure:
        """−w⟨q, b⟩, where ⟨q, b⟩ = ⟨q − c, b − c⟩ + ⟨q − c, c⟩ + ⟨c, b⟩ for the centre c."""
        unit = float(_towards_one(np.asarray(np.abs(weights).max())))
        slopes = weights * unit
        halves = (-slopes * self.lifts).astype(np.float32)
        return _Measure(weights, 0, slopes.astype(np.float32), halves, unit, float(np.abs(self.lifts).max()))


class _Block:
    """Some queries and the float32 products of each with all rows of a bank."""

    def __init__(self, bank: _CentredBank, queries: Array) -> None:
        self._bank, self._queries = bank, as_given(queries)
        n = len(queries)
        moved = np.empty(queries.shape, dtype=np.float32)
        self._norms, self._scales, self._shifts = np.empty(n), np.empty(n), np.empty(n)

        def work(part: slice) -> None:
            apart = self._queries[part] - bank.centre
            size = norms(apart)
            self._scales[part] = scale = bank.scale / np.maximum(1, size * bank.scale / FAR)
            self._norms[part] = size * scale
            apart *= scale[:, None]
            self._shifts[part] = apart @ (bank.centre * bank.scale)
            moved[part] = apart

        for_each_block(work, *queries.shape)
        self._products = moved @ bank.moved.T

    def fill(self, measure: _Measure, best: Floats) -> None:
        """Measure the candidates, and all that may be better where float32 may have lost some."""
        cuts = np.empty(len(best))
        best[:] = np.inf
        self._measure_near(measure, np.arange(len(best)), best.shape[1] + SPARE, cuts, best)
        needed = self._needed(measure, best[:, -1])
        lost = np.flatnonzero(cuts > needed)
        if lost.size:
            again = np.full((len(lost), best.shape[1]), np.inf)
            self._measure_near(measure, lost, 0, needed[lost], again)
            best[lost] = again

    def _needed(self, measure: _Measure, worst: Floats) -> Floats:
        """The float32 value (n,) below which no row of the bank can be better than the worst so far."""
        bank = self._bank
        worst = worst * self._scales * bank.scale * measure.unit
        if measure.by_distance:
            return (self._norms**2 - worst) / 2 - bank.rounding * bank.longest * (self._norms + bank.longest)
        sizes = bank.longest * self._norms + np.abs(self._shifts) + measure.lift
        is_far = self._scales < bank.scale  # and then lifts are not to scale
        return np.where(is_far, -np.inf, -worst - bank.rounding * sizes)

    def _measure_near(
        self, measure: _Measure, rows: NDArray[np.int64], fewest: int, cuts: Floats, best: Floats
    ) -> None:
        """Measure the rows of the bank that reach the cut, or with ``fewest`` above 0 one that so many reach."""
        bank = MeasuredBank(self._bank.rows, measure.weights, measure.first, measure.slopes, measure.halves)
        shifts = (self._shifts * (not measure.by_distance)).astype(np.float32)

        def work(part: slice) -> None:
            some = slice(rows[part.start], rows[part.start] + len(rows[part])) if fewest else rows[part]
            queries = as_given(self._queries[some])
            measure_near(queries, bank, self._products[some], shifts[some], fewest, cuts[part], best[part])

        for_each_block(work, len(rows), len(measure.slopes))


def _towards_one(sizes: Floats) -> Floats:
    """Powers of two that bring sizes to between a half and 1; those whose squares are 0 in float64 stay below."""
    return np.ldexp(1.0, np.minimum(-np.frexp(sizes)[1], 500))

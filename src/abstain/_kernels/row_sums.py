"""What any logit score needs of a row of logits, gathered in one read: the fused row pass.

Each of sixteen lanes is a row: rows are transposed into a tile, which stays in cache, and the tile is read class by
class. So nothing is added across lanes, no row ends within a vector, and with two classes a logit costs what it costs
with a thousand.
"""

from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain._cached_property import cached_property
from abstain._kernels.blocks import for_each_block
from abstain._kernels.compilation import array, as_given, compiled, double, given, single, whole
from abstain._kernels.lanes import (
    FOUR,
    LANES,
    LOG2_E,
    LOWEST,
    exp2_of_product,
    filled,
    filled_like,
    foresee,
    gather,
    larger,
    load,
    smaller,
    store,
    turn,
    where_above,
    wide,
)

TOP, SECOND, PREDICTION, RIVAL, SUM, SQUARES, PRODUCTS = range(7)
EXTREMES, EVERYTHING = 4, 7  # fields
MOST_SINGLE = 1 << 24  # classes whose indices float32 holds exactly
RUN = 64  # classes summed up before they join the total, so that rounding errors do not grow with their number


@compiled(inline="always")
def _turn(logits, i, rows, start, stop, tile):  # type: ignore[no-untyped-def]
    """Transpose some classes of the rows from i on into the tile, each row into a lane."""
    k = logits.shape[1]
    fours = (stop - start) // FOUR * FOUR if rows == LANES else 0
    for j in range(start, start + fours, FOUR):
        turn(logits, i * k + j, k, tile, j * LANES)
    for j in range(start + fours, stop):
        store(tile, j * LANES, gather(logits, i * k + j, k, rows))


@compiled(inline="always")
def _extremes(logits, i, rows, tile):  # type: ignore[no-untyped-def]
    """Fill the tile; the two largest of each row and the index of the first, where NaN counts as +inf."""
    k = logits.shape[1]
    top, second, best = filled_like(tile, -np.inf), filled_like(tile, -np.inf), filled_like(tile, 0.0)
    for start in range(0, k, RUN):
        stop = min(start + RUN, k)
        _turn(logits, i, rows, start, stop, tile)
        for j in range(start, stop):
            x = smaller(load(tile, j * LANES), np.inf)
            second = larger(second, smaller(x, top))
            best = where_above(x, top, np.float64(j), best)
            top = larger(top, x)
            foresee(logits, (i + LANES) * k + j * LANES)
    return top, second, best


@compiled(inline="always")
def _rival(tile, scale):  # type: ignore[no-untyped-def]
    """The largest scaled logit."""
    rival = filled(-np.inf)
    for j in range(scale.size):
        rival = larger(rival, wide(load(tile, j * LANES)) * scale[j])
    return rival


@compiled(inline="always")
def _sums(tile, k, second, beta):  # type: ignore[no-untyped-def]
    """Σ e^t, Σ e^{2t}, Σ t e^t with t = β(x − second)."""
    rate = LOG2_E * beta
    lowest = LOWEST / rate
    sums, squares, products = filled(0.0), filled(0.0), filled(0.0)
    for start in range(0, k, RUN):
        s1, s2, sd = filled(0.0), filled(0.0), filled(0.0)
        for j in range(start, min(start + RUN, k)):
            d = larger(wide(load(tile, j * LANES)) - second, lowest)  # a masked class, at −inf, must not make 0 · inf
            e = exp2_of_product(d, rate)
            s1, s2, sd = s1 + e, s2 + e * e, sd + e * d
        sums, squares, products = sums + s1, squares + s2, products + sd
    return sums, squares, products * beta


@compiled(inline="always")
def _take_out(tile, numbers, start):  # type: ignore[no-untyped-def]
    """Mask one class of each lane in the tile: their numbers begin at ``start``."""
    for c in range(LANES):
        tile[np.int64(numbers[start + c]) * LANES + c] = -np.inf


@compiled(
    *(
        (given(kind), array(double), double, array(double, 2), whole, array(kind), array(double))
        for kind in (single, double)
    )
)
def _fill_rows(logits, scale, beta, table, first, tile, rest):  # type: ignore[no-untyped-def]
    """Write each field of every row into ``table`` (fields, rows), from column ``first`` on."""
    n, k = logits.shape
    fields, step = table.shape
    numbers = table.reshape(-1)
    for i in range(0, n, LANES):
        rows = min(LANES, n - i)
        to, apart, start = numbers, step, first + i
        if rows < LANES:
            to, apart, start = rest, LANES, 0
        top, second, best = _extremes(logits, i, rows, tile)
        store(to, TOP * apart + start, top)
        store(to, SECOND * apart + start, second)
        store(to, PREDICTION * apart + start, best)
        if scale.size or fields > SUM:
            _take_out(tile, to, PREDICTION * apart + start)
        if scale.size:
            store(to, RIVAL * apart + start, _rival(tile, scale))
        if fields > SUM:
            sums, squares, products = _sums(tile, k, wide(second), beta)
            store(to, SUM * apart + start, sums)
            store(to, SQUARES * apart + start, squares)
            store(to, PRODUCTS * apart + start, products)
        if rows < LANES:
            for field in range(fields):
                for c in range(rows):
                    table[field, first + i + c] = rest[field * LANES + c]


class LogitRows(Protocol):
    """Logits (n, K): an array, or a view that reads blocks of rows on access."""

    @property
    def shape(self) -> tuple[int, int]:
        """Of rows and of classes."""

    def __getitem__(self, rows: slice, /) -> Any:
        """An array of the rows of a slice."""


def gathered(logits: LogitRows, scale: Floats, beta: float, fields: int, /) -> Floats:
    """The fields (fields, n) of every row, NaN and the prediction −1 where a row is non-finite."""
    n, k = logits.shape
    table = np.empty((fields, n))
    if not scale.size:
        table[RIVAL] = np.nan

    def work(block: slice) -> None:
        rows = as_given(logits[block] if k <= MOST_SINGLE else logits[block].astype(np.float64))
        tile, rest = np.empty(k * LANES, rows.dtype), np.full(fields * LANES, np.nan)
        _fill_rows(rows, scale, beta, table, block.start, tile, rest)

    for_each_block(work, n, k)
    bad = ~np.isfinite(table[TOP])
    if bad.any():
        table[:, bad] = np.nan
        table[PREDICTION, bad] = -1
    return table


NORMAL = 2.0**-46  # from 0: how far rounding may move the log of a sum of probabilities
ODDS_OF_TOP = 2.0**-12  # odds against the top class, below which the sum of the others has more digits of 1 − p₁


@final
class RowSums:
    """Of each row z with largest logit z₁ at i*, and dⱼ = zⱼ − z₁ for j ≠ i*: arrays of shape (n,).

    They are computed on first use: without exponentials until a field needs them, then all in one read of the logits.
    A row with a NaN, a +inf or nothing above −inf is NaN throughout.
    """

    def __init__(self, logits: LogitRows, scale: Floats | None, temperature: float) -> None:
        self._logits, self._temperature = logits, temperature
        self._scale = np.empty(0) if scale is None else np.ascontiguousarray(scale, dtype=np.float64)

    @cached_property
    def _everything(self) -> Floats:
        table = gathered(self._logits, self._scale, 1 / self._temperature, EVERYTHING)
        if (alone := table[SECOND] == -np.inf).any():  # one class left standing
            table[SUM:, alone] = [[1.0], [0.0], [np.inf]]
        return table

    @cached_property
    def _extremes(self) -> Floats:
        if "_everything" in self.__dict__:
            return self._everything
        return gathered(self._logits, self._scale, 1.0, EXTREMES)

    def _over_temperature(self, values: Floats) -> Floats:
        return values if self._temperature == 1 else np.asarray(values / self._temperature)

    @cached_property
    def top(self) -> Floats:
        """z₁."""
        return self._over_temperature(self._extremes[TOP])

    @cached_property
    def second(self) -> Floats:
        """The largest of the others."""
        return self._over_temperature(self._extremes[SECOND])

    @cached_property
    def prediction(self) -> NDArray[np.int64]:
        """i*, the first index of the largest logit, or −1 where a row is non-finite."""
        return self._extremes[PREDICTION].astype(np.int64)

    @cached_property
    def margin(self) -> Floats:
        """z₁ less the largest of the others."""
        return self._over_temperature(self._extremes[TOP] - self._extremes[SECOND])

    @cached_property
    def scaled_margin(self) -> Floats:
        """z_{i*} s_{i*} − max zⱼ sⱼ for the column scales s; NaN without scales."""
        if not self._scale.size:
            return np.full(self._logits.shape[0], np.nan)
        table = self._extremes
        return np.asarray(table[TOP] * self._scale[self.prediction] - table[RIVAL])

    @cached_property
    def _second_odds(self) -> Floats:
        return np.exp(-self.margin)

    @cached_property
    def tail(self) -> Floats:
        """L = log Σ exp dⱼ.

        For logs of probabilities it is log(1/p₁ − 1), unless the sum of the others has more digits: so rows with equal
        p₁, which forests often return, have equal tails, whatever the rounding of the other classes.
        """
        tail = np.asarray(np.log(self._everything[SUM]) - self.margin)
        is_log = (np.abs(self.top + self.log_total) < NORMAL) & (self.odds > ODDS_OF_TOP)
        if is_log.any():
            tail[is_log] = np.log(np.expm1(-self.top[is_log]))
        return tail

    @cached_property
    def odds(self) -> Floats:
        """A = e^L."""
        return np.asarray(self._second_odds * self._everything[SUM])

    @cached_property
    def ratio(self) -> Floats:
        """Σ exp 2dⱼ / Σ exp dⱼ, between 0 and 1."""
        return np.asarray(self._second_odds * (self._everything[SQUARES] / self._everything[SUM]))

    @cached_property
    def gap(self) -> Floats:
        """The mean of −dⱼ under weights exp(dⱼ − L); 0 where no other class is above −inf."""
        behind = self._everything[PRODUCTS] / self._everything[SUM]
        gap = np.asarray(self.margin - behind)
        if (alone := behind == np.inf).any():
            gap[alone] = 0.0
        return gap

    @cached_property
    def log_total(self) -> Floats:
        """log(1 + A), minus the log of the largest probability."""
        return np.log1p(self.odds)


def row_sums(logits: LogitRows, /, *, scale: Floats | None = None, temperature: float = 1.0) -> RowSums:
    """The sums of every row of logits / temperature in float64, whatever their type, shape (n, K).

    ``scale`` of shape (K,) is needed for ``scaled_margin``.
    """
    return RowSums(logits, scale, temperature)

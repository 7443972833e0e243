"""What any logit score needs of a row of logits, gathered in one read.

Lanes are rows: sixteen of them are turned into columns of a tile, which stays in cache, and worked class by class. So
nothing is added up across lanes, nothing is left over at the end of a row, and two classes cost per logit what a
thousand do.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.blocks import for_each_block
from abstain.kernels.compiled import array, as_given, compiled, double, given, single, whole
from abstain.kernels.exponential import LOG2_E, LOWEST, exp2_of_product
from abstain.kernels.lanes import LANES, filled, filled_like, larger, smaller, where_above, wide
from abstain.kernels.transfers import FOUR, foresee, gather, load, store, turn

Floats = NDArray[np.float64]
TOP, SECOND, PREDICTION, RIVAL, SUM, SQUARES, PRODUCTS = range(7)
EXTREMES, EVERYTHING = 4, 7  # fields
MOST_SINGLE = 1 << 24  # classes whose numbers float32 tells apart
RUN = 64  # classes summed up before they join the total, so that rounding grows with neither their number


@compiled(inline="always")
def _turn(logits, i, rows, start, stop, tile):  # type: ignore[no-untyped-def]
    """Put some classes of rows from i on into the tile, each row into a lane."""
    k = logits.shape[1]
    fours = (stop - start) // FOUR * FOUR if rows == LANES else 0
    for j in range(start, start + fours, FOUR):
        turn(logits, i * k + j, k, tile, j * LANES)
    for j in range(start + fours, stop):
        store(tile, j * LANES, gather(logits, i * k + j, k, rows))


@compiled(inline="always")
def _extremes(logits, i, rows, tile):  # type: ignore[no-untyped-def]
    """Fill the tile; the two largest of each row and the place of the first, where NaN counts as +inf."""
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
def _take_out(tile, numbers, place):  # type: ignore[no-untyped-def]
    """Take the class of each lane, whose number stands from a place on, out of the tile."""
    for c in range(LANES):
        tile[np.int64(numbers[place + c]) * LANES + c] = -np.inf


@compiled(
    *(
        (given(kind), array(double), double, whole, whole, array(double), whole, array(kind), array(double))
        for kind in (single, double)
    )
)
def _fill(logits, scale, beta, fields, step, found, first, tile, rest):  # type: ignore[no-untyped-def]
    """Put each field of every row into ``found``, those of the first at ``first``, fields ``step`` apart."""
    n, k = logits.shape
    for i in range(0, n, LANES):
        rows = min(LANES, n - i)
        to, apart, place = found, step, first + i
        if rows < LANES:
            to, apart, place = rest, LANES, 0
        top, second, best = _extremes(logits, i, rows, tile)
        store(to, TOP * apart + place, top)
        store(to, SECOND * apart + place, second)
        store(to, PREDICTION * apart + place, best)
        if scale.size or fields > SUM:
            _take_out(tile, to, PREDICTION * apart + place)
        if scale.size:
            store(to, RIVAL * apart + place, _rival(tile, scale))
        if fields > SUM:
            sums, squares, products = _sums(tile, k, wide(second), beta)
            store(to, SUM * apart + place, sums)
            store(to, SQUARES * apart + place, squares)
            store(to, PRODUCTS * apart + place, products)
        if rows < LANES:
            for field in range(fields):
                for c in range(rows):
                    found[field * step + first + i + c] = rest[field * LANES + c]


class LogitRows(Protocol):
    """Logits (n, K): an array, or what reads blocks of its rows when they are looked at."""

    @property
    def shape(self) -> tuple[int, int]:
        """Of rows and of classes."""

    def __getitem__(self, rows: slice, /) -> Any:
        """An array of the rows of a slice."""


def gathered(logits: LogitRows, scale: Floats, beta: float, fields: int, /) -> Floats:
    """The fields (fields, n) of every row, NaN and the prediction −1 where a row is not usable."""
    n, k = logits.shape
    found = np.empty((fields, n))
    if not scale.size:
        found[RIVAL] = np.nan

    def work(block: slice) -> None:
        rows = as_given(logits[block] if k <= MOST_SINGLE else logits[block].astype(np.float64))
        tile, rest = np.empty(k * LANES, rows.dtype), np.full(fields * LANES, np.nan)
        _fill(rows, scale, beta, fields, n, found.reshape(-1), block.start, tile, rest)

    for_each_block(work, n, k)
    bad = ~np.isfinite(found[TOP])
    if bad.any():
        found[:, bad] = np.nan
        found[PREDICTION, bad] = -1
    return found

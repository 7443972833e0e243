"""A sketch with no small counts, to be shared where a count of few rows tells too much of them."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.histogram import FIRST
from abstain.sketch.bins import Bins
from abstain.sketch.cells import Cells
from abstain.sketch.sketch import Sketch

Ints = NDArray[np.int64]


def coarsened(sketch: Sketch, /, *, minimum: int) -> Sketch:
    """The sketch with neighbouring bins joined until each has no row, or ``minimum`` rows, of every population.

    Bins are joined from the most trusted down, and what is left over at the end to the bin before; a few rows that are
    never accepted take the least trusted bins along, which are then never accepted either. Brackets stay valid and grow
    wider. Parts are given up, and with them paired differences. As the edges depend on the rows, they are those of no
    other sketch: merge before, or count others in the same bins.
    """
    if type(minimum) is not int or minimum < 1:
        raise ValueError(f"`minimum` must be a whole number of rows, got {minimum!r}.")
    if sketch.plan.has_ids:
        raise ValueError(
            "`sketch` must be of independent rows to be made coarse, got ids that may repeat, whose standard errors "
            "need the parts. Count one row of each sample, with `distinct`."
        )
    scores, cells = {}, {}
    for name, one in sketch.plan.scores.items():
        whole = sketch.cells[name].with_codes(np.arange(len(sketch.strata) * sketch.plan.parts) // sketch.plan.parts)
        bins, place = _joined(whole, one.bins, minimum)
        scores[name] = one._replace(bins=bins)
        cells[name] = Cells.merge(
            [Cells(whole.place - whole.bins.astype(np.uint64) + place, whole.counts, whole.errors)]
        )
    plan = replace(sketch.plan, scores=scores, parts=1)
    return Sketch(plan, sketch.strata, cells, fitted_bins=frozenset(scores))


def _joined(cells: Cells, bins: Bins, minimum: int) -> tuple[Bins, NDArray[np.uint64]]:
    """Edges such that no population has few rows in a bin, and the new bin of every cell."""
    used, place = np.unique(cells.bins, return_inverse=True)
    table = np.zeros((len(used), int(cells.codes.max(initial=0)) + 1), np.int64)
    table[place, cells.codes] = cells.counts
    totals = table.sum(axis=0)
    if not len(used) or totals.min() < minimum:
        raise ValueError(
            f"`minimum` must be at most the rows of the smallest population, {min(totals.tolist(), default=0)}, got "
            f"{minimum}. Keep fewer populations apart, or count more rows."
        )
    starts, has_never = _starts(table, minimum), int(used[0] == 0)
    if has_never and len(starts) == 1:
        raise ValueError(f"`minimum` must leave rows that can be accepted, got {minimum}. Ask for less.")
    edges = bins.first_keys(used[starts[has_never:]])
    if not has_never or starts[1] == 1:  # no row of a finite confidence is taken along by those never accepted
        edges[0] = FIRST
    number = np.searchsorted(starts, np.arange(len(used)), side="right") - has_never
    return Bins(None, edges.astype(np.uint32)), number[place].astype(np.uint64)


def _starts(table: Ints, minimum: int) -> Ints:
    """The places of ascending bins, (m, populations), at which a joined bin begins; what is below always makes one."""
    below = np.cumsum(table, axis=0) - table
    leaves_enough = ((below == 0) | (below >= minimum)).all(axis=1)
    starts, so_far = [], np.zeros(table.shape[1], np.int64)
    for row in range(len(table) - 1, -1, -1):
        so_far += table[row]
        if leaves_enough[row] and ((so_far == 0) | (so_far >= minimum)).all():
            starts.append(row)
            so_far[:] = 0
    return np.array(starts[::-1], np.int64)

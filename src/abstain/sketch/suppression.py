"""A sketch without small counts, to be shared where these would reveal too much."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Ints
from abstain._errors import InvalidInputError
from abstain._kernels.counts import FIRST
from abstain.sketch.bins import Bins
from abstain.sketch.cells import Cells
from abstain.sketch.sketch import Sketch


def coarsened(sketch: Sketch, /, *, minimum: int) -> Sketch:
    """The sketch with neighbouring bins merged until each has no row, or ``minimum`` rows, of every population.

    Bins are merged from the most confident down, and what is left at the end into the bin before; a few rows that are
    never accepted take the least confident bins along, which are then never accepted either. Bounds stay valid and
    become wider. Parts are dropped, and with them paired differences. The edges depend on the rows, so they are those
    of no other sketch: merge before, or count others in the same bins.
    """
    if type(minimum) is not int or minimum < 1:
        raise InvalidInputError(f"`minimum` must be an integer of at least 1, got {minimum!r}.")
    if sketch.plan.has_ids:
        raise InvalidInputError(
            "`sketch` must count independent rows for `minimum`, got ids that may repeat, whose standard errors "
            "need the parts. Count one row per sample, with `distinct`."
        )
    scores, cells = {}, {}
    for name, score in sketch.plan.scores.items():
        whole = sketch.cells[name].with_codes(np.arange(len(sketch.strata) * sketch.plan.parts) // sketch.plan.parts)
        bins, joined_bins = _joined(whole, score.bins, minimum)
        scores[name] = score._replace(bins=bins)
        cells[name] = Cells.merge(
            [Cells(whole.slots - whole.bins.astype(np.uint64) + joined_bins, whole.counts, whole.errors)]
        )
    plan = replace(sketch.plan, scores=scores, parts=1)
    return Sketch(plan, sketch.strata, cells, fitted_bins=frozenset(scores))


def _joined(cells: Cells, bins: Bins, minimum: int) -> tuple[Bins, NDArray[np.uint64]]:
    """Edges such that no population has few rows in a bin, and the new bin of every cell."""
    used, index = np.unique(cells.bins, return_inverse=True)
    table = np.zeros((len(used), int(cells.codes.max(initial=0)) + 1), np.int64)
    table[index, cells.codes] = cells.counts
    totals = table.sum(axis=0)
    if not len(used) or totals.min() < minimum:
        raise InvalidInputError(
            f"`minimum` must be at most the size of the smallest population, {min(totals.tolist(), default=0)}, got "
            f"{minimum}. Count fewer populations, or more rows."
        )
    starts, has_never = _starts(table, minimum), int(used[0] == 0)
    if has_never and len(starts) == 1:
        raise InvalidInputError(f"`minimum` must leave rows that can be accepted, got {minimum}. Choose a smaller one.")
    edges = bins.first_keys(used[starts[has_never:]])
    if not has_never or starts[1] == 1:  # no row with a finite confidence is in the bin that is never accepted
        edges[0] = FIRST
    number = np.searchsorted(starts, np.arange(len(used)), side="right") - has_never
    return Bins(None, edges.astype(np.uint32)), number[index].astype(np.uint64)


def _starts(table: Ints, minimum: int) -> Ints:
    """The indices of ascending bins, (m, populations), at which merged bins begin; the lowest rows always have one."""
    below = np.cumsum(table, axis=0) - table
    leaves_enough = ((below == 0) | (below >= minimum)).all(axis=1)
    starts, so_far = [], np.zeros(table.shape[1], np.int64)
    for row in range(len(table) - 1, -1, -1):
        so_far += table[row]
        if leaves_enough[row] and ((so_far == 0) | (so_far >= minimum)).all():
            starts.append(row)
            so_far[:] = 0
    return np.array(starts[::-1], np.int64)

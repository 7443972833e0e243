"""Passes over the logits: powers of centred logits, and distances to decision boundaries."""

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain._kernels.blocks import for_each_block
from abstain._kernels.compilation import array, as_given, compiled, double, given, single, whole
from abstain._kernels.lanes import (
    LANES,
    filled,
    gather,
    larger,
    largest,
    load,
    smaller,
    steps,
    total,
    where_above,
    wide,
)


@compiled(inline="always")
def _lanes_of(z, start, left):  # type: ignore[no-untyped-def]
    """As many numbers as there are lanes, −inf past the end."""
    if left >= LANES:
        return wide(load(z, start))
    return where_above(np.float64(left), steps(), wide(gather(z, start, 1, left)), -np.inf)


@compiled(*((given(kind), whole, whole, array(double, 2)) for kind in (single, double)))
def _fill_centred(logits, power, first, sums_out):  # type: ignore[no-untyped-def]
    n, k = logits.shape
    for i in range(n):
        counts, sums, top, low = filled(0.0), filled(0.0), filled(-np.inf), filled(-np.inf)
        for j in range(0, k, LANES):
            x = _lanes_of(logits, i * k + j, k - j)
            counts = counts + where_above(x, -np.inf, 1.0, 0.0)
            sums = sums + where_above(x, -np.inf, x, 0.0)
            top = larger(x, top)
            low = larger(where_above(x, -np.inf, 0.0 - x, -np.inf), low)
        mean = total(sums) / larger(total(counts), 1.0)
        above, size = largest(top) - mean, larger(largest(top) - mean, largest(low) + mean)
        sums_out[0, first + i], sums_out[1, first + i], sums_out[2, first + i] = above, size, 1.0
        if (
            power == 1 and above > 0.0
        ):  # twice the sum above the mean, so that it is exactly 2 where one class is above it
            powers = filled(0.0)
            for j in range(0, k, LANES):
                x = _lanes_of(logits, i * k + j, k - j)
                powers = powers + larger(x - mean, 0.0)
            sums_out[1, first + i], sums_out[2, first + i] = above, 2.0 * total(powers) / above
        elif power > 1 and size > 0.0:
            inverse, powers = 1.0 / size, filled(0.0)
            for j in range(0, k, LANES):
                x = _lanes_of(logits, i * k + j, k - j)
                apart = (x - mean) * inverse
                apart = where_above(x, -np.inf, larger(apart, 0.0 - apart), 0.0)
                product = apart
                for _ in range(1, power):
                    product = product * apart
                powers = powers + product
            sums_out[2, first + i] = total(powers)


def centred_sums(logits: NDArray[np.floating], power: int, /) -> tuple[Floats, Floats, Floats]:
    """Of c = z − mean z of each row: the largest, the largest size s, and Σ (|c|/s)^power, or 1 for power 0.

    For power 1, s is the largest c and Σ|c| is computed as twice the sum of those above 0, so that all rows with a
    single class above the mean tie exactly, as they should.

    Masked classes, at −inf, are skipped; the result for a row of nothing else, or with NaN or +inf, is undefined.
    """
    sums = np.empty((3, len(logits)))

    def work(block: slice) -> None:
        _fill_centred(as_given(logits[block]), power, block.start, sums)

    for_each_block(work, *logits.shape)
    return sums[0], sums[1], sums[2]


@compiled(inline="always")
def _take(x, own, inverse, least, sums, counts):  # type: ignore[no-untyped-def]
    """Add the distances (own − x) · inverse to least, sum and count, where inverse is above 0 and x is not −inf."""
    counts_here = where_above(inverse, 0.0, where_above(x, -np.inf, 1.0, 0.0), 0.0)
    distance = where_above(counts_here, 0.0, (own - x) * inverse, 0.0)
    least = smaller(where_above(counts_here, 0.0, distance, np.inf), least)
    return least, sums + distance, counts + counts_here


@compiled(*((given(kind), array(whole), array(double, 2), array(double), array(double)) for kind in (single, double)))
def _fill_boundaries(logits, prediction, inverse, smallest, mean):  # type: ignore[no-untyped-def]
    n, k = logits.shape
    whole = k // LANES * LANES
    for i in range(n):
        row, own = i * k, prediction[i] * k
        z = np.float64(logits[i, prediction[i]])
        least, sums, counts = filled(np.inf), filled(0.0), filled(0.0)
        for j in range(0, whole, LANES):
            least, sums, counts = _take(wide(load(logits, row + j)), z, load(inverse, own + j), least, sums, counts)
        if whole < k:
            x, factor = (
                wide(gather(logits, row + whole, 1, k - whole)),
                where_above(np.float64(k - whole), steps(), gather(inverse, own + whole, 1, k - whole), 0.0),
            )
            least, sums, counts = _take(x, z, factor, least, sums, counts)
        count = total(counts)
        smallest[i] = -largest(0.0 - least)
        mean[i] = total(sums) / count if count else np.inf


def boundary_distances(
    logits: NDArray[np.floating], prediction: NDArray[np.int64], inverse: Floats, /
) -> tuple[Floats, Floats]:
    """Smallest and mean of (z_ŷ − z_j) · inverse[ŷ, j] over j with inverse above 0; masked classes are skipped."""
    n, k = logits.shape
    if inverse.shape != (k, k):
        raise InvalidInputError(f"`weight` must have a row for each of the {k} classes, got {len(inverse)} rows.")
    smallest, mean = np.empty(n), np.empty(n)
    inverse = np.ascontiguousarray(inverse, dtype=np.float64)

    def work(block: slice) -> None:
        own = np.maximum(prediction[block], 0)
        _fill_boundaries(as_given(logits[block]), own, inverse, smallest[block], mean[block])

    for_each_block(work, n, k)
    return smallest, mean

"""Sums of powers of the logits less their mean."""

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.blocks import for_each_block
from abstain.kernels.compiled import array, as_given, compiled, double, given, single, whole
from abstain.kernels.lanes import LANES, filled, larger, largest, steps, total, where_above, wide
from abstain.kernels.transfers import gather, load

Floats = NDArray[np.float64]


@compiled(inline="always")
def _part(z, start, left):  # type: ignore[no-untyped-def]
    """As many numbers as there are lanes, −inf beyond those left."""
    if left >= LANES:
        return wide(load(z, start))
    return where_above(np.float64(left), steps(), wide(gather(z, start, 1, left)), -np.inf)


@compiled(*((given(kind), whole, whole, array(double, 2)) for kind in (single, double)))
def _fill(logits, power, first, found):  # type: ignore[no-untyped-def]
    n, k = logits.shape
    for i in range(n):
        counts, sums, top, low = filled(0.0), filled(0.0), filled(-np.inf), filled(-np.inf)
        for j in range(0, k, LANES):
            x = _part(logits, i * k + j, k - j)
            counts = counts + where_above(x, -np.inf, 1.0, 0.0)
            sums = sums + where_above(x, -np.inf, x, 0.0)
            top = larger(x, top)
            low = larger(where_above(x, -np.inf, 0.0 - x, -np.inf), low)
        mean = total(sums) / larger(total(counts), 1.0)
        above, size = largest(top) - mean, larger(largest(top) - mean, largest(low) + mean)
        found[0, first + i], found[1, first + i], found[2, first + i] = above, size, 1.0
        if power == 1 and above > 0.0:  # twice what is above the mean, so that one class alone above it gives 2 exactly
            powers = filled(0.0)
            for j in range(0, k, LANES):
                x = _part(logits, i * k + j, k - j)
                powers = powers + larger(x - mean, 0.0)
            found[1, first + i], found[2, first + i] = above, 2.0 * total(powers) / above
        elif power > 1 and size > 0.0:
            inverse, powers = 1.0 / size, filled(0.0)
            for j in range(0, k, LANES):
                x = _part(logits, i * k + j, k - j)
                apart = (x - mean) * inverse
                apart = where_above(x, -np.inf, larger(apart, 0.0 - apart), 0.0)
                product = apart
                for _ in range(1, power):
                    product = product * apart
                powers = powers + product
            found[2, first + i] = total(powers)


def centred_sums(logits: NDArray[np.floating], power: int, /) -> tuple[Floats, Floats, Floats]:
    """Of c = z − mean z of each row: the largest, the largest size s, and Σ (|c|/s)^power, or 1 for power 0.

    For power 1, s is the largest c, since Σ|c| is twice the sum of those above 0: rows of which one class is above the
    mean then tie exactly, as they should.

    Masked classes, at −inf, are passed over; a row of nothing else, or with NaN or +inf, comes out as anything.
    """
    found = np.empty((3, len(logits)))

    def work(block: slice) -> None:
        _fill(as_given(logits[block]), power, block.start, found)

    for_each_block(work, *logits.shape)
    return found[0], found[1], found[2]

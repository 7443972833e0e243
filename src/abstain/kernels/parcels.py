"""Groups of ties along the ranking, where every loss is 0 or 1 and every row counts once: no argsort, no weights.

Right and wrong rows are sorted apart, by values alone, and merged from the least trusted up, a parcel of groups at a
time; rows whose ranking is known are cut into the same parcels.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.compiled import array, byte, compiled, double, given, read_only, single, whole
from abstain.kernels.ranks import FEW

PARCEL = 1024  # groups, small enough to stay in the first cache


@compiled(
    *((given(kind, 1), given(of_losses, 1), array(kind)) for kind in (single, double) for of_losses in (byte, double))
)
def _split(confidence, losses, out):  # type: ignore[no-untyped-def]
    """Put right rows (loss 0) to the front of ``out`` and wrong rows (loss 1) to its back; how many of each."""
    right = 0
    wrong = 0
    last = confidence.size - 1
    for i in range(confidence.size):
        out[right] = confidence[i]
        out[last - wrong] = confidence[i]
        right += losses[i] == 0
        wrong += losses[i] == 1
    return right, wrong


def split(
    confidence: NDArray[np.floating], losses: NDArray[Any], /
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """The confidences of rows with loss 0 and of those with loss 1, in any order."""
    if len(confidence) <= FEW:
        return confidence[losses == 0], confidence[losses == 1]
    out = np.empty(len(confidence), dtype=confidence.dtype)
    right, wrong = _split(
        read_only(confidence), read_only(losses.view(np.uint8) if losses.dtype == bool else losses), out
    )
    return out[:right], out[len(out) - wrong :]


@compiled(inline="always")
def _run(values, start):  # type: ignore[no-untyped-def]
    """The end of the run of equal values that begins at ``start``."""
    end = start + 1
    while end < values.size and values[end] == values[start]:
        end += 1
    return end


@compiled(inline="always")
def merged_parcel(right, wrong, i, j, counts, errors):  # type: ignore[no-untyped-def]
    """The next groups of two ascending arrays from places i and j on; the new places, and how many groups."""
    g = 0
    while g < counts.size and (i < right.size or j < wrong.size):
        while g < counts.size and i + 1 < right.size and j + 1 < wrong.size:  # rows on their own, without a branch
            a, b = right[i], wrong[j]
            if a == b or a == right[i + 1] or b == wrong[j + 1]:
                break
            is_wrong = np.int64(b < a)
            counts[g], errors[g] = 1, is_wrong
            i += 1 - is_wrong
            j += is_wrong
            g += 1
        if g == counts.size:
            break
        has_right = j == wrong.size or (i < right.size and right[i] <= wrong[j])
        has_wrong = i == right.size or (j < wrong.size and wrong[j] <= right[i])
        counts[g] = errors[g] = 0
        if has_right:
            end = _run(right, i)
            counts[g] = end - i
            i = end
        if has_wrong:
            end = _run(wrong, j)
            counts[g] += end - j
            errors[g] = end - j
            j = end
        g += 1
    return i, j, g


@compiled(
    *((array(kind), array(kind), array(kind), array(whole), array(double)) for kind in (single, double)), allocates=True
)
def merged_groups(right, wrong, confidence, counts, errors):  # type: ignore[no-untyped-def]
    """Fill the ends of three arrays, of a place for each row, with the groups, descending; how many there are."""
    i = j = found = 0
    some_counts, some_errors = np.empty(PARCEL, np.int64), np.empty(PARCEL, np.int64)
    while i < right.size or j < wrong.size:
        place_right, place_wrong = i, j
        i, j, g = merged_parcel(right, wrong, i, j, some_counts, some_errors)
        for k in range(g):
            found += 1
            place = counts.size - found
            counts[place], errors[place] = some_counts[k], some_errors[k]
            confidence[place] = right[place_right] if some_errors[k] < some_counts[k] else wrong[place_wrong]
            place_right += some_counts[k] - some_errors[k]
            place_wrong += some_errors[k]
    return found


@compiled(inline="always")
def ranked_parcel(rows, begins, is_error, end, counts, errors):  # type: ignore[no-untyped-def]
    """The next groups of a ranking from row ``end`` up; where they begin, how many, and their errors."""
    g = wrong = 0
    while g < counts.size and end > 0:
        counts[g] = errors[g] = 0
        is_first = False
        while not is_first:
            end -= 1
            counts[g] += 1
            errors[g] += is_error[rows[end]]
            is_first = begins[end]
        wrong += errors[g]
        g += 1
    return end, g, wrong

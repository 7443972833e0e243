"""What each row adds to an area of errors along the ranking: its influence, from the least trusted row up."""

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.compiled import array, byte, compiled, double, flag, given, read_only, whole
from abstain.kernels.errors import plus
from abstain.kernels.parcels import PARCEL, ranked_parcel
from abstain.kernels.ranks import Order

Floats = NDArray[np.float64]


@compiled(inline="always")
def _tie_means(count, wrong, end, m):  # type: ignore[no-untyped-def]
    """What a group of ties adds to h and T, and the mean of that over its rows."""
    h = h_sum = 0.0
    for k in range(end if end < m else m, end - count, -1):
        h += 1.0 / k
        h_sum += h
    rate = wrong / count
    return h, h * rate, h_sum / count, h_sum * rate / count


@compiled((array(whole), array(flag), given(byte, 1), array(whole, 2), whole, array(double), array(double)), late=3)
def _influence(rows, begins, is_error, parcel, m, influence, shares):  # type: ignore[no-untyped-def]
    """Give every row its e h − T, and the first ones of ``shares`` their h/m; the sum of all e h − T."""
    counts, errors = parcel[0], parcel[1]
    h_before = h_lost = t_before = t_lost = total = total_lost = 0.0
    end = rows.size
    while end > 0:
        _, groups, _ = ranked_parcel(rows, begins, is_error, end, counts, errors)
        h = t = some = 0.0
        for g in range(groups):
            count, wrong = counts[g], errors[g]
            more_h = more_t = h_mean = t_mean = 0.0
            if count == 1 and end <= m:
                more_h = h_mean = 1.0 / end
                more_t = t_mean = h_mean * wrong
            elif end - count < m:
                more_h, more_t, h_mean, t_mean = _tie_means(count, wrong, end, m)
            h_mean, t_mean = h_before + (h + h_mean), t_before + (t + t_mean)
            h += more_h
            t += more_t
            some += wrong * h_mean - count * t_mean
            for k in range(end - count, end):
                row = rows[k]
                influence[row] = is_error[row] * h_mean - t_mean
                if row < shares.size:
                    shares[row] = h_mean / m
            end -= count
        h_before, h_lost = plus(h_before, h_lost, h)
        t_before, t_lost = plus(t_before, t_lost, t)
        total, total_lost = plus(total, total_lost, some)
    return total


def ranked_error_influence(order: Order, is_error: NDArray[np.bool_], m: int, some: int, /) -> tuple[Floats, Floats]:
    """(n,) the influence n/m (e h − T) of each row, its mean taken off, and h/m of the first ``some`` rows."""
    n = len(is_error)
    influence, shares = np.empty(n), np.empty(some)
    parcel = np.empty((2, PARCEL), np.int64)
    total = _influence(*order, read_only(is_error.view(np.uint8)), parcel, m, influence, shares)
    influence -= total / n
    influence *= n / m
    return influence, shares

"""Sums along the ranking: areas under the risk–coverage curve, their standard errors, and what each row adds to them.

A group g of ``counts[g]`` tied rows has total weight ``weights[g]`` and weighted loss ``losses[g]``. The average over
all orders of the ties is the same as giving every row of the group the group's mean weight and mean loss. If every
loss is 0 or 1 and no row has a weight, groups are read in parcels from the least trusted up, so that areas and standard
errors need no array of all groups. Groups that exist as arrays are read the same way and give the same bits.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats, Ints
from abstain._kernels.compilation import array, byte, compiled, double, flag, given, read_only, single, whole
from abstain._kernels.ranking import FEW, PARCEL, Order, merged_parcel, order_rows, ranked_parcel


@compiled((array(whole), array(double), array(double), whole))
def partial_area(counts: NDArray[np.int64], weights: Floats, losses: Floats, m: int) -> float:
    """Weighted mean of the risk over the first ``m`` rows of the ranking, by compensated summation."""
    weight = 0.0
    loss = 0.0
    total = 0.0
    lost = 0.0
    left = m
    for g in range(counts.size):
        w = weights[g] / counts[g]
        e = losses[g] / counts[g]
        take = min(counts[g], left)
        for t in range(1, take + 1):
            term = w * ((loss + t * e) / (weight + t * w)) - lost
            longer = total + term
            lost = (longer - total) - term
            total = longer
        left -= take
        if left == 0:
            return total / (weight + take * w)
        weight += weights[g]
        loss += losses[g]
    return total / weight


@compiled((array(whole), array(double), array(double)))
def expected_risks(counts: NDArray[np.int64], weights: Floats, losses: Floats) -> Floats:
    """Risk of the first k rows for k = 1 … n, ties in expectation."""
    risks = np.empty(counts.sum())
    weight = 0.0
    loss = 0.0
    k = 0
    for g in range(counts.size):
        w = weights[g] / counts[g]
        e = losses[g] / counts[g]
        for t in range(1, counts[g] + 1):
            risks[k] = (loss + t * e) / (weight + t * w)
            k += 1
        weight += weights[g]
        loss += losses[g]
    return risks


@compiled((array(whole), array(double), array(double), whole))
def group_influence(counts: NDArray[np.int64], weights: Floats, losses: Floats, m: int) -> tuple[Floats, Floats]:
    """Group means of h_i = Σ_{i≤k≤m} w_k/W_k and T_i = Σ_{i≤k≤m} w_k e_k/W_k, from the last row to the first."""
    h_mean = np.zeros(counts.size)
    t_mean = np.zeros(counts.size)
    before = np.zeros(counts.size)
    first = np.zeros(counts.size, np.int64)
    for g in range(1, counts.size):
        before[g] = before[g - 1] + weights[g - 1]
        first[g] = first[g - 1] + counts[g - 1]
    h = 0.0
    t = 0.0
    for g in range(counts.size - 1, -1, -1):
        if first[g] >= m:
            continue
        w = weights[g] / counts[g]
        e = losses[g] / weights[g]
        h_sum = 0.0
        t_sum = 0.0
        for rank in range(min(counts[g], m - first[g]), 0, -1):
            step = w / (before[g] + rank * w)
            h += step
            t += step * e
            h_sum += h
            t_sum += t
        h_mean[g] = h_sum / counts[g]
        t_mean[g] = t_sum / counts[g]
    return h_mean, t_mean


@compiled((array(double), array(double), array(double), array(double), double))
def centre(h: Floats, t: Floats, losses: Floats, weights: Floats, scale: float) -> None:
    """Add to T the weighted mean of ℓ h − T, and scale both by ``scale`` over the total weight, in place."""
    total = 0.0
    excess = 0.0
    for g in range(h.size):
        total += weights[g]
        excess += losses[g] * h[g] - weights[g] * t[g]
    for g in range(h.size):
        h[g] *= scale / total
        t[g] = (t[g] + excess / total) * (scale / total)


@compiled((array(whole), array(double), array(double), array(double), array(double)))
def row_influence(group, weights, losses, slope, base):  # type: ignore[no-untyped-def]
    """Of every row w (slope ℓ − base), from its group's slope and base; no weights mean 1."""
    influence = np.empty(group.size)
    for i in range(group.size):
        value = slope[group[i]] * losses[i] - base[group[i]]
        influence[i] = value * weights[i] if weights.size else value
    return influence


class ErrorArea(NamedTuple):
    """Sums over the first m rows of the ranking; h is the group's mean of Σ_{i≤k≤m} 1/k."""

    risks: float
    """Σ_{k≤m} R_k."""
    spread: float
    """Σ over all rows of the squared deviation of e h − T from its mean, T = Σ_{i≤k≤m} e_k/k."""
    third: float
    """Σ of the cubes of the same deviations."""
    largest: float
    """h of the first group."""
    first: float
    """The rank up to which the first group with an error goes; 0 without one among the first m rows."""


@compiled(inline="always")
def plus(total, lost, term):  # type: ignore[no-untyped-def]
    """The total with one more term, and what rounding has lost (Kahan, 1965)."""
    step = term - lost
    longer = total + step
    return longer, (longer - total) - step


@compiled(inline="always")
def _tie(count, wrong, end, wrong_end, m, total):  # type: ignore[no-untyped-def]
    """Add a group of ties to the risks; what it adds to h and T, and the mean of that over its rows."""
    before, wrong_before, rate = end - count, wrong_end - wrong, wrong / count
    risks, risks_lost = total
    h = h_lost = h_sum = 0.0
    for k in range(end if end < m else m, before, -1):
        h, h_lost = plus(h, h_lost, 1.0 / k)
        h_sum += h
        risks, risks_lost = plus(risks, risks_lost, (wrong_before + (k - before) * rate) / k)
    return risks, risks_lost, h, h * rate, h_sum / count, h_sum * rate / count


@compiled(inline="always")
def _fold(counts, errors, groups, end, wrong_end, m, state):  # type: ignore[no-untyped-def]
    """Add a parcel of groups, the least trusted first and up to row ``end`` of the ranking, to the state of a pass.

    Sums are formed within the parcel and then added to the state. Deviations are from the mean so far, so that no
    digit of their squares cancels.
    """
    h_before, t_before, risks, risks_lost = state[0], state[2], state[4], state[5]
    rows, mean, largest, first = state[6], state[7], state[10], state[11]
    h = t = off_sum = off_squares = off_cubes = 0.0
    for g in range(groups):
        count, wrong = counts[g], errors[g]
        rows += count
        if end - count < m:
            if count == 1:
                step = 1.0 / end
                h += step
                t += step * wrong
                h_mean, t_mean = h_before + h, t_before + t
                risks, risks_lost = plus(risks, risks_lost, wrong_end / end)
                off = wrong * h_mean - t_mean - mean
                off_sum += off
                off_squares += off * off
                off_cubes += off * off * off
            else:
                risks, risks_lost, more_h, more_t, h_mean, t_mean = _tie(
                    count, wrong, end, wrong_end, m, (risks, risks_lost)
                )
                h_mean, t_mean = h_before + (h + h_mean), t_before + (t + t_mean)
                h += more_h
                t += more_t
                if_wrong, if_right = h_mean - t_mean - mean, -t_mean - mean
                off_sum += wrong * if_wrong + (count - wrong) * if_right
                wrong_square, right_square = wrong * (if_wrong * if_wrong), (count - wrong) * (if_right * if_right)
                off_squares += wrong_square + right_square
                off_cubes += wrong_square * if_wrong + right_square * if_right
            largest = h_mean
            first = end if wrong else first
        end -= count
        wrong_end -= wrong
    state[0], state[1] = plus(state[0], state[1], h)
    state[2], state[3] = plus(state[2], state[3], t)
    shift = off_sum / rows
    state[4], state[5], state[6], state[7] = risks, risks_lost, rows, mean + shift
    state[9] += off_cubes - 3 * shift * (state[8] + off_squares) + 2 * shift * shift * off_sum
    state[8] += off_squares - off_sum * shift
    state[10], state[11] = largest, first


@compiled(*((array(kind), array(kind), array(whole), array(double, 2)) for kind in (single, double)))
def _pass_sorted(right, wrong, ms, states):  # type: ignore[no-untyped-def]
    counts, errors = np.empty(PARCEL, np.int64), np.empty(PARCEL, np.int64)
    i = j = 0
    while i < right.size or j < wrong.size:
        end, wrong_end = right.size + wrong.size - i - j, wrong.size - j
        i, j, groups = merged_parcel(right, wrong, i, j, counts, errors)
        for a in range(ms.size):
            _fold(counts, errors, groups, end, wrong_end, ms[a], states[a])


@compiled((array(whole), array(double), array(whole), array(double, 2)))
def _pass_groups(all_counts, losses, ms, states):  # type: ignore[no-untyped-def]
    counts, errors = np.empty(PARCEL, np.int64), np.empty(PARCEL, np.int64)
    end, wrong_end = all_counts.sum(), np.int64(losses.sum())
    for stop in range(all_counts.size, 0, -PARCEL):
        groups = min(PARCEL, stop)
        for g in range(groups):
            counts[g], errors[g] = all_counts[stop - 1 - g], np.int64(losses[stop - 1 - g])
        for a in range(ms.size):
            _fold(counts, errors, groups, end, wrong_end, ms[a], states[a])
        end -= counts[:groups].sum()
        wrong_end -= errors[:groups].sum()


@compiled((array(whole), array(flag), given(byte, 1), array(whole, 2), whole, array(whole), array(double, 2)))
def _pass_ranked(rows, begins, is_error, parcel, wrong_end, ms, states):  # type: ignore[no-untyped-def]
    counts, errors = parcel[0], parcel[1]
    end = rows.size
    while end > 0:
        start, groups, wrong = ranked_parcel(rows, begins, is_error, end, counts, errors)
        for a in range(ms.size):
            _fold(counts, errors, groups, end, wrong_end, ms[a], states[a])
        end = start
        wrong_end -= wrong


def _start(ms: Ints, n: int, errors: float) -> Floats:
    """The states of passes: 0, except for a guess of the mean if all rows are within the first m."""
    states = np.zeros((len(ms), 12))
    states[ms == n, 7] = -errors / n
    return states


def _areas(states: Floats) -> list[ErrorArea]:
    return [ErrorArea(*(float(state[k]) for k in (4, 8, 9, 10, 11))) for state in states]


def sorted_error_areas(right: NDArray[np.floating], wrong: NDArray[np.floating], ms: Ints, /) -> list[ErrorArea]:
    """The sums over the first m rows, for each m, from the confidences of right and wrong rows, both ascending."""
    if len(right) + len(wrong) <= FEW:
        is_error = np.repeat([False, True], [len(right), len(wrong)])
        return ranked_error_areas(order_rows(np.concatenate([right, wrong])), is_error, ms)
    states = _start(ms, len(right) + len(wrong), len(wrong))
    _pass_sorted(right, wrong, ms, states)
    return _areas(states)


def group_error_areas(counts: Ints, losses: Floats, ms: Ints, /) -> list[ErrorArea]:
    """The same from groups, the most trusted first."""
    states = _start(ms, int(counts.sum()), float(losses.sum()))
    _pass_groups(counts, losses, ms, states)
    return _areas(states)


def ranked_error_areas(order: Order, is_error: NDArray[np.bool_], ms: Ints, /) -> list[ErrorArea]:
    """The same from rows in the order of a ranking."""
    wrong = int(np.count_nonzero(is_error))
    states = _start(ms, len(is_error), wrong)
    _pass_ranked(*order, read_only(is_error.view(np.uint8)), np.empty((2, PARCEL), np.int64), wrong, ms, states)
    return _areas(states)


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

"""Sums along the ranking: areas under the risk–coverage curve and how each group of ties weighs in them.

A group g of ``counts[g]`` tied rows has total weight ``weights[g]`` and weighted loss ``losses[g]``. The average over
all orders of the ties is the same as giving every row of the group the group's mean weight and mean loss.
"""

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.compiled import array, compiled, double, whole

Floats = NDArray[np.float64]


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


@compiled((array(whole), array(double), array(double)), allocates=True)
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


@compiled((array(whole), array(double), array(double), whole), allocates=True)
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
        for place in range(min(counts[g], m - first[g]), 0, -1):
            step = w / (before[g] + place * w)
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


@compiled((array(whole), array(double), array(double), array(double), array(double)), allocates=True)
def row_influence(group, weights, losses, slope, base):  # type: ignore[no-untyped-def]
    """Of every row w (slope ℓ − base), from its group's slope and base; no weights mean 1."""
    influence = np.empty(group.size)
    for i in range(group.size):
        value = slope[group[i]] * losses[i] - base[group[i]]
        influence[i] = value * weights[i] if weights.size else value
    return influence

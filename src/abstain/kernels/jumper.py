"""Bets against uniform conformal p-values, and on the rate of events, one sample after the other."""

from math import exp, log

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.compiled import array, compiled, double, whole

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BETS = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])  # on the place of p around the middle; 2 risks all
JUMP = 0.001
SPAN = 8  # parts whose weights are summed beforehand


@compiled()
def _mean_distance(low: float, high: float) -> float:
    """The mean of 2|p − ½| for p uniform between two numbers."""
    if low >= 0.5 or high <= 0.5:
        return abs(low + high - 1.0)
    return ((0.5 - low) ** 2 + (high - 0.5) ** 2) / (high - low)


@compiled(
    (array(whole), array(whole), array(whole), array(double), array(double, 2), array(double), array(double)),
    allocates=True,
)
def jump(parts: Ints, first: Ints, last: Ints, weights: Floats, shares: Floats, logs: Floats, highest: Floats) -> None:
    """Bet on each sample's part, then count it. The last four arrays change.

    The p-value of a sample is its place among all before it, uniform within its part. Two gamblers bet, on p and on its
    distance from the middle, each in the ways of ``BETS``, and a bet pays its mean over the part. A small share of the
    capital is moved among the ways at every step: ``shares`` (4, ways) of the capital, its ``logs`` (4,). Two more do
    the same with the mean over all parts that the sample's ties reach, ``first`` to ``last``. ``highest`` (2,) are the
    largest logs so far of the mean capital of the first two and of the last two. (Vovk et al., 2021)
    """
    total = weights.sum()
    coarse = np.zeros(weights.size // SPAN + 1)  # sums of whole numbers, the same in any order
    for j in range(weights.size):
        coarse[j // SPAN] += weights[j]
    for k in range(parts.size):
        from_tie = 0.0
        for j in range(first[k] // SPAN):
            from_tie += coarse[j]
        for j in range(first[k] - first[k] % SPAN, first[k]):
            from_tie += weights[j]
        below = from_tie
        for j in range(first[k], parts[k]):
            below += weights[j]
        above = below + weights[parts[k]]
        to_tie = above
        for j in range(parts[k] + 1, last[k] + 1):
            to_tie += weights[j]
        for gambler in range(4):
            low, high = (below / total, above / total) if gambler < 2 else (from_tie / total, to_tie / total)
            middle = (low + high) / 2.0
            place = middle - 0.5 if gambler % 2 == 0 else _mean_distance(low, high) - 0.5
            grown = 0.0
            for way in range(BETS.size):
                share = (1.0 - JUMP) * shares[gambler, way] + JUMP / BETS.size
                shares[gambler, way] = share * (1.0 + BETS[way] * place)
                grown += shares[gambler, way]
            for way in range(BETS.size):
                shares[gambler, way] /= grown
            logs[gambler] += log(grown)
        for pair in range(2):
            one, other = logs[2 * pair], logs[2 * pair + 1]
            top = max(one, other)
            if top > highest[pair]:  # the mean is at most the largest
                highest[pair] = max(highest[pair], top + log(0.5 * (exp(one - top) + exp(other - top))))
        weights[parts[k]] += 1.0
        coarse[parts[k] // SPAN] += 1.0
        total += 1.0


@compiled(
    (array(double), array(whole), array(double), array(double), array(double), double, array(double)), allocates=True
)
def jump_rates(
    ones: Floats,
    sizes: Ints,
    if_one: Floats,
    if_zero: Floats,
    shares: Floats,
    log_capital: float,
    logs: Floats,
) -> None:
    """Bet on the events in each batch in several ways; ``logs`` gets the log capital after each, ``shares`` changes.

    A way grows by e^``if_one`` for an event and e^``if_zero`` for none, and in proportion for a part of one.
    """
    growth, factors, tops = np.empty(shares.size), np.empty((2, shares.size)), np.empty(2)
    for event in range(2):
        for way in range(shares.size):
            growth[way] = if_one[way] if event else if_zero[way]
        tops[event] = growth.max()
        for way in range(shares.size):
            factors[event, way] = exp(growth[way] - tops[event])
    for k in range(ones.size):
        zeros = sizes[k] - ones[k]
        grown = 0.0
        if sizes[k] == 1 and (ones[k] == 0.0 or zeros == 0.0):
            event = 1 if zeros == 0.0 else 0
            top = tops[event]
            for way in range(shares.size):
                share = (1.0 - JUMP) * shares[way] + JUMP / shares.size
                shares[way] = share * factors[event, way]
                grown += shares[way]
        else:
            top = -np.inf
            for way in range(shares.size):
                if sizes[k] == 1:
                    growth[way] = log(ones[k] * exp(if_one[way]) + zeros * exp(if_zero[way]))
                else:
                    growth[way] = ones[k] * if_one[way] + zeros * if_zero[way]
                top = max(top, growth[way])
            for way in range(shares.size):
                share = (1.0 - JUMP) * shares[way] + JUMP / shares.size
                shares[way] = share * exp(growth[way] - top)
                grown += shares[way]
        for way in range(shares.size):
            shares[way] /= grown
        log_capital += top + log(grown)
        logs[k] = log_capital

"""Bets against the uniform distribution of conformal p-values, one sample after the other."""

from math import exp, log

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.compiled import array, compiled, double, whole

Floats = NDArray[np.float64]
BETS = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])  # on the place of p around the middle; 2 risks all
JUMP = 0.001


@compiled((array(whole), array(double), array(double), array(double, 2), array(double)))
def jump(parts: NDArray[np.int64], uniform: Floats, weights: Floats, shares: Floats, logs: Floats) -> float:
    """Bet on each sample's part, then count it; the largest log capital on the way. All arrays but two are changed.

    The p-value of a sample is its place among all before it: the weight of the parts below its own and a uniform part
    of its own, over the total. Two gamblers bet, on p and on its distance from the middle, each in the ways of
    ``BETS``, among which a small part of the capital is shared out anew at every step: ``shares`` (2, ways) of the
    capital and its ``logs`` (2,). Their mean is the evidence. (Vovk et al., 2021)
    """
    highest = -np.inf
    total = weights.sum()
    for k in range(parts.size):
        part = parts[k]
        below = 0.0
        for j in range(part):
            below += weights[j]
        p = (below + uniform[k] * weights[part]) / total
        weights[part] += 1.0
        total += 1.0
        for gambler in range(2):
            place = p - 0.5 if gambler == 0 else 2.0 * abs(p - 0.5) - 0.5
            grown = 0.0
            for way in range(BETS.size):
                share = (1.0 - JUMP) * shares[gambler, way] + JUMP / BETS.size
                shares[gambler, way] = share * (1.0 + BETS[way] * place)
                grown += shares[gambler, way]
            for way in range(BETS.size):
                shares[gambler, way] /= grown
            logs[gambler] += log(grown)
        top = max(logs[0], logs[1])
        highest = max(highest, top + log(0.5 * (exp(logs[0] - top) + exp(logs[1] - top))))
    return highest


@compiled(
    (array(whole), array(whole), array(double), array(double), array(double), double, array(double)), allocates=True
)
def jump_rates(
    ones: NDArray[np.int64],
    sizes: NDArray[np.int64],
    if_one: Floats,
    if_zero: Floats,
    shares: Floats,
    log_capital: float,
    logs: Floats,
) -> None:
    """Bet on the events in each batch in several ways; ``logs`` gets the log capital after each, ``shares`` changes.

    A way grows by e^``if_one`` for an event and e^``if_zero`` for none.
    """
    growth = np.empty(shares.size)
    for k in range(ones.size):
        top = -np.inf
        for way in range(shares.size):
            growth[way] = ones[k] * if_one[way] + (sizes[k] - ones[k]) * if_zero[way]
            top = max(top, growth[way])
        grown = 0.0
        for way in range(shares.size):
            share = (1.0 - JUMP) * shares[way] + JUMP / shares.size
            shares[way] = share * exp(growth[way] - top)
            grown += shares[way]
        for way in range(shares.size):
            shares[way] /= grown
        log_capital += top + log(grown)
        logs[k] = log_capital

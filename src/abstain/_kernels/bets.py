"""Betting sequences and crossing probabilities of random walks."""

from math import exp, inf, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from numba import types

from abstain._arrays import Floats, Ints
from abstain._kernels.compilation import array, compiled, double, whole

PRIOR = 50.0  # numbers that the first guess of the spread counts for


@compiled((array(double), double, double, double))
def reaches(excess: Floats, spread: float, largest_bet: float, log_target: float) -> bool:
    """Whether bets against E[excess] ≥ 0 reach a capital.

    Each bet is the one expected to reach the target within the numbers left, given the mean square so far, for which
    ``spread`` is the first guess. Bets that depend on the past alone are fair; bets that aim at a target come closer to
    the exact test than bets that maximise growth.
    (Voráček & Orabona, 2025)
    """
    log_capital, squares, n = 0.0, PRIOR * spread, excess.size
    for t in range(n):
        lacking = log_target - log_capital
        if lacking <= 0.0:
            return True
        mean_square = squares / (PRIOR + t)
        bet = sqrt(2.0 * lacking / ((n - t) * mean_square)) if mean_square > 0.0 else inf
        log_capital += log1p(-min(bet, largest_bet) * excess[t])
        squares += excess[t] * excess[t]
    return log_capital >= log_target


AIM = 0.05  # added to the log target of a rank: bets that aim exactly at a target end just below it
HIGHER = 8.0  # likewise for a cell, times the root of its share of the ranks: about four standard deviations


@compiled()
def _log_capital(losses: Floats, order: Ints, rank: int, risk: float, log_target: float, won: Floats) -> float:
    """The log capital that these bets reach; ``won`` receives the share of each of the last of the ``rank`` losses.

    The bet is that which hedges the exact test of a normal sum: with p the share of the target that the capital is,
    z the normal quantile of p and φ its density, φ(z)/p over the standard deviation of what is left. With
    x = −log p that is about x·√(2/(x + 0.4 + 0.4√x)). A loss of 1 may ruin.
    """
    log_capital, squares, t = 0.0, PRIOR * risk * (1.0 - risk), 0
    largest_bet = 1.0 / (1.0 - risk)
    for row in order:
        if row >= rank:
            continue
        lacking = log_target - log_capital
        if lacking <= 0.0:
            return log_capital
        x = lacking + AIM
        aim = x * sqrt(2.0 / (x + 0.4 + 0.4 * sqrt(x)))
        excess = losses[row] - risk
        factor = 1.0 - min(aim * sqrt((PRIOR + t) / ((rank - t) * squares)), largest_bet) * excess
        if factor <= 0.0:
            return -inf
        log_capital += log(factor)
        if row >= rank - won.size:
            won[row - rank + won.size] = log(factor)
        squares += excess * excess
        t += 1
    return log_capital


@compiled((array(double), array(whole), whole, whole, whole, double, array(double)))
def passed_in_turn(
    losses: Floats, order: Ints, first: int, last: int, step: int, risk: float, log_targets: Floats
) -> int:
    """The last rank up to which all ranks from ``first`` on pass for all targets; first − 1 if the first fails.

    The ``step`` ranks of a cell share the bets of its last rank, and each drops the losses beyond itself. Those bets
    aim higher, so that what is dropped seldom decides.
    """
    for begin in range(first, last + 1, step):
        end = min(begin + step - 1, last)
        passed = end
        for log_target in log_targets:
            won = np.zeros(end - begin)
            higher = log_target + HIGHER * sqrt((end - begin) / end)
            log_capital = _log_capital(losses, order, end, risk, higher, won)
            for rank in range(end, begin - 1, -1):
                if log_capital < log_target:
                    passed = min(passed, rank - 1)
                if rank > begin:
                    log_capital -= won[rank - begin - 1]
        if passed < end:
            return passed
    return last


BETS = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])  # on how far p is from the middle; 2 risks all
JUMP = 0.001  # share of the capital that is spread over all ways at every step
SPAN = 8  # parts whose weights are summed beforehand


@compiled()
def _mean_distance(low: float, high: float) -> float:
    """The mean of 2|p − ½| for p uniform between two numbers."""
    if low >= 0.5 or high <= 0.5:
        return abs(low + high - 1.0)
    return ((0.5 - low) ** 2 + (high - 0.5) ** 2) / (high - low)


@compiled((array(whole), array(whole), array(whole), array(double), array(double, 2), array(double), array(double)))
def jump(parts: Ints, first: Ints, last: Ints, weights: Floats, shares: Floats, logs: Floats, highest: Floats) -> None:
    """Bet on each sample's part, then count it. The last four arrays change.

    The p-value of a sample is its rank among all before it, uniform within its part. Two gamblers bet, on p and on its
    distance from the middle, each in the ways of ``BETS``, and a bet pays its mean over the part. A small share of the
    capital is moved among the ways at every step: ``shares`` (4, ways) of the capital, its ``logs`` (4,). Two more do
    the same with the mean over all parts that the sample's ties reach, ``first`` to ``last``. ``highest`` (2,) are the
    largest logs so far of the mean capital of the first two and of the last two. (Vovk et al., 2021)
    """
    total = weights.sum()
    coarse = np.zeros(weights.size // SPAN + 1)  # sums of integers, the same in any order
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
            deviation = middle - 0.5 if gambler % 2 == 0 else _mean_distance(low, high) - 0.5
            grown = 0.0
            for way in range(BETS.size):
                share = (1.0 - JUMP) * shares[gambler, way] + JUMP / BETS.size
                shares[gambler, way] = share * (1.0 + BETS[way] * deviation)
                grown += shares[gambler, way]
            for way in range(BETS.size):
                shares[gambler, way] /= grown
            logs[gambler] += log(grown)
        for pair in range(2):
            own, other = logs[2 * pair], logs[2 * pair + 1]
            top = max(own, other)
            if top > highest[pair]:  # the mean is at most the largest
                highest[pair] = max(highest[pair], top + log(0.5 * (exp(own - top) + exp(other - top))))
        weights[parts[k]] += 1.0
        coarse[parts[k] // SPAN] += 1.0
        total += 1.0


@compiled((array(double), array(whole), array(double), array(double), array(double), double, array(double)))
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


class RandomWalk(NamedTuple):
    """At time j it is at bottoms[j] + w with chance occupancy[j, w].

    From j to j + 1 it goes up by least[kind] + x with chance steps[kind, x], where kind = kinds[j].
    """

    bottoms: Ints
    occupancy: Floats
    kinds: Ints
    steps: Floats
    least: Ints


WALK = types.NamedTuple((array(whole), array(double, 2), array(whole), array(double, 2), array(whole)), RandomWalk)


@compiled(inline="always")
def _step_back(walk, j, later, now):  # type: ignore[no-untyped-def]
    """The chance of ever crossing from each position at time j, given that at time j + 1."""
    kind, width = walk.kinds[j], now.size
    shift = walk.bottoms[j] - walk.bottoms[j + 1] + walk.least[kind]
    now[:] = 0.0
    for x in range(walk.steps.shape[1]):
        chance, up = walk.steps[kind, x], shift + x
        if chance > 0.0:
            for w in range(max(0, -up), min(width, width - up)):
                now[w] += chance * later[w + up]
            for w in range(min(max(0, -up), width)):
                now[w] += chance


@compiled((array(whole, 2), WALK, double, array(double, 2)))
def crossing_chances(boundaries: Ints, walk: RandomWalk, enough: float, chances: Floats) -> None:
    """chances[i, j] = P(∃ j' ≥ j: W_j' ≤ boundaries[i, j']), or 1 once it is above ``enough``.

    Each boundary is swept from the last time to the first, with the chance of ever crossing for each position of the
    walk; below the positions held it has crossed, above them it never will.
    """
    times, width = walk.occupancy.shape
    later, now = np.empty(width), np.empty(width)
    for i in range(boundaries.shape[0]):
        later[:] = 0.0
        begun = False
        for j in range(times - 1, -1, -1):
            chances[i, j] = 0.0
            if not begun and boundaries[i, j] < 0:
                continue
            if begun:
                _step_back(walk, j, later, now)
            else:
                now[:] = 0.0
                begun = True
            for w in range(min(width, max(0, boundaries[i, j] - walk.bottoms[j] + 1))):
                now[w] = 1.0
            total = 0.0
            for w in range(width):
                total += walk.occupancy[j, w] * now[w]
            chances[i, j] = total
            if total > enough:
                chances[i, : j + 1] = 1.0
                break
            later, now = now, later

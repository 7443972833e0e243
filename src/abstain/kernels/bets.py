"""Bets that aim at a capital, one number after the other."""

from math import inf, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.compiled import array, compiled, double

Floats = NDArray[np.float64]
PRIOR = 50.0  # how many numbers the guess of the spread counts for


@compiled((array(double), double, double, double))
def reaches(excess: Floats, spread: float, largest_bet: float, log_target: float) -> bool:
    """Whether bets against E[excess] ≥ 0 reach a capital.

    Before each number the bet is the one with which the capital still lacking is expected soonest in the numbers left,
    given the mean square so far; ``spread`` is a guess of it to begin with. Bets that know the past alone are fair, and
    those that aim at a target come closer to the exact test than bets that only let the capital grow.
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

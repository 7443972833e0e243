"""Betting: evidence about the mean of bounded numbers, as the capital of a gambler who bets that it is lower."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from abstain._arrays import Floats
from abstain._bisection import first_number
from abstain._errors import InvalidInputError
from abstain.thresholds.sample import check_chance, range_words

STEPS = np.array([0.5, 1.0, 2.0])


def bets_for(second_moment: float, n: int, delta: float, /, *, largest: float, steps: Floats = STEPS) -> Floats:
    """Bets of ``steps`` times what would reach 1/δ soonest on ``n`` numbers with this mean square; none can ruin.

    Any bets are valid that do not depend on the numbers bet on; a guess from other data costs no validity.
    """
    best = sqrt(2 * log(1 / delta) / (n * second_moment)) if n and second_moment > 0 else np.inf
    return np.minimum(best * steps, 0.95 / largest)


def log_capital(excess: Floats, bets: Floats, /) -> float:
    """Log of the evidence against E[excess] ≥ 0: the mean over the bets λ of Π (1 − λ·excess).

    Its expectation is at most 1 where E[excess] ≥ 0 and no bet can ruin, so it reaches 1/δ with probability at most δ
    (Markov), whatever the distribution. (Waudby-Smith & Ramdas, 2024)
    """
    return float(logsumexp([np.log1p(-bet * excess).sum() for bet in bets]) - log(len(bets)))


def mean_upper_bound(values: ArrayLike, guide: ArrayLike, /, *, delta: float, largest: float = 1.0) -> float:
    """An upper bound on a mean that holds with probability 1 − δ, from independent numbers between 0 and ``largest``.

    It is the lowest mean that bets rule out. It adapts to the spread: much tighter than Hoeffding's bound where the
    numbers vary little.

    Parameters
    ----------
    values : (n,) array
        Independent numbers between 0 and ``largest``.
    guide : (m,) array
        Other such numbers, which decide the bets; the bound holds whatever they are.
    delta : float
        The probability with which the guarantee may fail, at most 0.5.
    largest : float
        The largest value possible, known beforehand.

    Returns
    -------
    float

    Raises
    ------
    InvalidInputError
        If a value is not between 0 and ``largest``, there are none, or ``delta`` is out of its range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> round(mean_upper_bound(rng.random(1000), rng.random(100), delta=0.05), 2)
    0.54

    References
    ----------
    Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 2024.
    """
    check_chance("delta", delta)
    x, other = np.asarray(values, dtype=np.float64), np.asarray(guide, dtype=np.float64)
    if x.ndim != 1 or not len(x) or not ((x >= 0) & (x <= largest)).all() or not largest > 0:
        raise InvalidInputError(
            f"`values` must be numbers between 0 and `largest` ({largest:g}), got {range_words(x)}."
        )
    x, other = x / largest, other / largest
    spread = max(float(other.var()), 1 / (len(x) + 1)) if len(other) > 1 else 0.25

    def ruled_out(mean: float) -> bool:
        bets = bets_for(spread, len(x), delta, largest=1 - mean)
        return log_capital(x - mean, bets) >= -log(delta)

    return first_number(ruled_out, min(float(x.mean()), 1.0), 1.0, within=1e-9) * largest

"""Quantiles of the normal and the gamma distribution; to import SciPy takes longer than a small evaluation."""

from math import exp, inf, lgamma, log
from statistics import NormalDist

ENOUGH = 1e-9  # of the log of a quantile: the step after one as small would be lost in rounding
_NORMAL = NormalDist()


def normal_quantile(probability: float, /) -> float:
    """What a standard normal variable is below with this probability.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    return _NORMAL.inv_cdf(probability)


def gamma_quantile(shape: float, probability: float, /) -> float:
    """What a gamma variable of this shape and scale 1 is below with this probability.

    P(X ≤ x) = x^a e^−x / Γ(a + 1) · Σ_k x^k / ((a + 1) … (a + k)) is log-concave in log x and below x^a / Γ(a + 1), so
    Newton's steps on the logs, from where that bound is the probability, go up to the quantile and never past it.

    >>> round(gamma_quantile(1.0, 0.5), 6)
    0.693147
    """
    goal = log(probability) + lgamma(shape + 1)
    place, step = goal / shape, inf
    while step > ENOUGH:
        x, k, term, total = exp(place), shape, 1.0, 1.0
        while term > 1e-17 * total:
            k += 1
            term *= x / k
            total += term
        step = (goal - shape * place + x - log(total)) * total / shape
        place += step
    return exp(place)

"""Quantiles of the normal and of Student's distribution; to import SciPy takes longer than a small evaluation."""

from statistics import NormalDist

_NORMAL = NormalDist()


def normal_quantile(probability: float, /) -> float:
    """What a standard normal variable is below with this probability.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    return _NORMAL.inv_cdf(probability)


def student_quantile(probability: float, freedom: float, /) -> float:
    """What a variable of Student's distribution is below with this probability, p.

    The first terms of the expansion of Fisher and Cornish (1960) about the normal quantile: right to 3% at p ≤ 0.975;
    12% too short at p = 0.995 with 2 degrees of freedom.

    >>> round(student_quantile(0.975, 10.0), 3)
    2.228
    """
    z = normal_quantile(probability)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3

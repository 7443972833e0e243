"""Interval of a sum of errors with weights: its variance and skewness, and an allowance for errors not seen.

A sum with variance v and third cumulant κ is treated as m times a Poisson count k, with m = κ/v and k = v/m². What it
may be off by with a tail probability t is where the signed root of its likelihood ratio, x − k − k ln(x/k), is the
normal quantile of t. Errors of a kind that the sample does not show are Poisson too: λ of them are expected, and none
is seen, with probability e^−λ. So a limit with tail probability t must allow for λ unseen errors besides a deviation of
what was seen that has probability t e^λ, whatever λ: the interval goes as far as the worst λ. Where many errors were
seen the worst is λ = 0, and nothing is added. Where none was, it is the mid-P limit, 3.0 errors at 95%.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, exp, expm1, log, log1p, sqrt
from statistics import NormalDist

import numpy as np

from abstain._arrays import Floats
from abstain._kernels.sums import exact_sum

SYMMETRIC = 1e-6  # skewness, below which a distribution is taken for a normal one
FEW = 0.3  # how much the few terms of a skewed sum add to the cost that likelihood allows
FEW_APART = 2.0  # the same for a difference, whose terms may be light by chance: a low sum has a low variance too
TOP = 0.2  # of the rows: the most trusted, among which an area allows for errors not seen
MOST = 0.75  # of the rows of a score, among which a comparison allows for errors that the other score ranks last
STEPS = 24  # at which the number of unseen errors is tried


@dataclass(frozen=True)
class Spread:
    """What is known of the error of an estimate, besides its value."""

    variance: float
    thirds: tuple[float, float]
    """The third cumulant that lengthens the interval below and above: −κ and κ. Of a difference, whose terms have
    either sign, the cubes of those below and of those above: a skewness seen by chance makes no side shorter."""
    unseen: tuple[float, float]
    """What one term that was not seen may take off and add, on average."""
    size: float
    """How many rows of equal weight would count as much."""
    beyond: float = 0.0
    """What leaving out the heaviest term takes off beyond its influence, a derivative."""
    few: float = FEW

    def interval(self, value: float, /, *, level: float) -> tuple[float, float]:
        """The interval around a value."""
        below, above = (
            reach(self.variance, third, unseen, self.size, level=level, few=self.few)
            for third, unseen in zip(self.thirds, self.unseen, strict=True)
        )
        return value - below - self.beyond, value + above

    def hides_nothing(self, *, level: float) -> bool:
        """Whether what was not seen adds nothing: whether its share in the interval is too light to matter."""
        bare = replace(self, unseen=(0.0, 0.0))
        return self.interval(0.0, level=level) == bare.interval(0.0, level=level)


def area_spread(value: float, se: float, third: float, unseen: float, size: float, /, *, beyond: float = 0.0) -> Spread:
    """The spread of an area of losses: what was not seen may be an error where rows are right, or the other way."""
    return Spread(se**2, (-third, third), (value * unseen, (1 - value) * unseen), size, beyond)


def heaviest(shares: Floats, part: float = TOP, /) -> float:
    """The mean of the largest part of the shares that count at all.

    >>> round(heaviest(np.array([0.1, 0.5, 0.2, 0.2, 0.1, 0.3, 0.0])), 4)
    0.4
    """
    reached = shares[shares > 0]
    top = ceil(part * reached.size)
    return exact_sum(np.partition(reached, reached.size - top)[-top:]) / top if top else 0.0


def effective_number(shares: Floats, /) -> float:
    """How many equal shares would count as much as these (Kish, 1965)."""
    return exact_sum(shares) ** 2 / exact_sum(np.square(shares))


def reach(variance: float, third: float, unseen: float, size: float, /, *, level: float, few: float = FEW) -> float:
    """How far above an estimate the interval goes; with −κ for the third cumulant, how far below.

    >>> round(reach(0.04, 0.0, 0.0, 1e9, level=0.95), 4), round(reach(0.0, 0.0, 0.1, 1e9, level=0.95), 4)
    (0.392, 0.2996)
    """
    tail, most = (1 - level) / 2, -log(1 - level)  # unseen errors, at which a tail probability of ½ is left
    farthest = -1.0
    for step in range(STEPS + 1):
        expected = most * step / STEPS
        z = student_quantile(1 - tail * exp(expected), max(size - 1.0, 2.0)) if step < STEPS else 0.0
        now = expected * unseen + _deviation(variance, third, z, few)
        if now <= farthest:
            break  # a concave function of their number
        farthest = now
    return farthest


def _deviation(variance: float, third: float, z: float, few: float) -> float:
    """How much more the mean of a sum may be than what was seen, at a normal quantile."""
    if variance <= 0 or z <= 0:
        return 0.0
    skewness, sd = third / variance**1.5, sqrt(variance)
    if abs(skewness) < SYMMETRIC:
        return z * sd
    count = 1 / skewness**2
    cost = z**2 / 2 * (1 + few / (1 + count))
    return sd / skewness * _change(cost / count, rises=skewness > 0)


def _change(cost: float, *, rises: bool) -> float:
    """The relative change of the mean, up or down, that has a cost; Newton's steps come from beyond and never pass."""
    near = sqrt(2 * cost) + cost
    for _ in range(100):
        if rises:
            step = (near - log1p(near) - cost) * (1 + near) / near
        else:
            step = (near + expm1(-near) - cost) / -expm1(-near)
        near -= step
        if abs(step) <= 1e-12 * near:
            break
    return near if rises else exp(-near) - 1


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

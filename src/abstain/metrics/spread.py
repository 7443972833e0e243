"""Interval of a sum whose variance and skewness match a scaled Poisson count, plus an allowance for unseen terms.

A sum with variance v and third cumulant κ is treated as m times a Poisson count k, with m = κ/v and k = v/m². Its
interval holds all means x of the count that the likelihood ratio does not exclude: x − k − k ln(x/k) ≤ z²/2. Terms that
the sample does not show are allowed for. Their number is a Poisson count of which none was seen: a mean of λ has
probability e^−λ, so costs λ in likelihood, and adds λ times what the heaviest rows weigh. With many terms, none of them
large, this is the normal interval; for a count of equal terms it is close to the mid-P interval.
"""

from dataclasses import dataclass, replace
from math import exp, expm1, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.sums import exact_sum
from abstain.metrics.quantiles import student_quantile

Floats = NDArray[np.float64]
SYMMETRIC = 1e-6  # skewness, below which a distribution is taken for a normal one
FEW = 0.3  # how much the few terms of a skewed sum add to the cost that likelihood allows
TOP = 3  # rows: of a kind with 3 expected rows none is seen in 5% of samples
NOT_SEEN = 0.8  # of 1 − level: the probability not to see what an interval allows for


@dataclass(frozen=True)
class Spread:
    """What is known of the error of an estimate beside its value."""

    variance: float
    thirds: tuple[float, float]
    """The third cumulant that lengthens the interval below and above: −κ and κ. Of a difference, whose terms have
    either sign, the cubes of those below and of those above: a skewness seen by chance makes no side shorter."""
    unseen: tuple[float, float]
    """What one term that was not seen may take off and add."""
    size: float
    """How many rows of equal weight would count as much."""
    beyond: float = 0.0
    """What leaving out the heaviest term takes off beyond its influence, a derivative."""

    def interval(self, value: float, /, *, level: float) -> tuple[float, float]:
        """The interval around a value."""
        rows = unseen_rows(level)
        below, above = (
            reach(self.variance, third, rows * unseen, self.size, level=level)
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


def unseen_rows(level: float, /) -> float:
    """How many rows at most, λ, one expects of a kind that a sample does not show with probability e^−λ."""
    return -log(NOT_SEEN * (1 - level))


def heaviest(shares: Floats, /) -> float:
    """The mean of the three largest shares: of as many rows as a sample may fail to show.

    >>> round(heaviest(np.array([0.1, 0.5, 0.3, 0.3])), 4)
    0.3667
    """
    first = shares if len(shares) <= TOP else np.partition(shares, len(shares) - TOP)[-TOP:]
    return float(np.sort(first).mean())


def typical(shares: Floats, /) -> float:
    """The root mean square of the shares that count at all."""
    reached = shares[shares > 0]
    return sqrt(exact_sum(np.square(reached)) / max(1, reached.size))


def effective_number(shares: Floats, /) -> float:
    """How many equal shares would count as much as these (Kish, 1965)."""
    return exact_sum(shares) ** 2 / exact_sum(np.square(shares))


def reach(variance: float, third: float, unseen: float, size: float, /, *, level: float) -> float:
    """How far above an estimate the interval goes; with −κ for the third cumulant, how far below.

    >>> round(reach(0.04, 0.0, 0.0, 1e9, level=0.95), 4), round(reach(0.0, 0.0, 0.3, 1e9, level=0.95), 4)
    (0.392, 0.3)
    """
    z = student_quantile((1 + level) / 2, max(size - 1.0, 2.0))
    if variance <= 0:
        return unseen
    skewness = third / variance**1.5
    cost = z**2 / 2 * (1 + FEW / (1 + 1 / max(skewness**2, 1e-300)))
    sd, step = sqrt(variance), unseen / cost
    if abs(skewness) < SYMMETRIC:
        if step * sqrt(2 * cost) <= sd:
            return sd * sqrt(2 * cost)
        return unseen + variance / (2 * step)
    count, width = 1 / skewness**2, skewness * sd  # of the steps of a Poisson count, the second with its sign
    if step > 0 and width < step:
        # At the best ratio of the mean of the steps to their count, a unit of likelihood buys as much of either.
        spent = count * _cost(1 / (1 - width / step) - 1)
        if spent < cost:
            return width * count * (1 / (1 - width / step) - 1) + step * (cost - spent)
    return width * count * _change(cost / count, rises=width > 0)


def _cost(change: float) -> float:
    """−ln of the likelihood ratio of a Poisson count whose mean is 1 + change times it, for each unit of it."""
    return change - log1p(change)


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

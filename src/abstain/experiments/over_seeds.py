"""Differences over training seeds: their mean, and an interval for chance in training and in testing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit


@dataclass(frozen=True)
class OverSeeds:
    """A mean over seeds with its 95% interval; below zero means that the first is better."""

    mean: float
    se: float
    low: float
    high: float
    seeds: int

    @property
    def sign(self) -> int:
        """−1 or 1 where the interval leaves out zero, else 0."""
        return int(self.low > 0) - int(self.high < 0)

    def __str__(self) -> str:
        return f"{100 * self.mean:+.2f} [{100 * self.low:+.2f}, {100 * self.high:+.2f}]"

    @property
    def marked(self) -> str:
        """In Markdown: bold where the first is better, italic where it is worse."""
        mark = {-1: "**", 0: "", 1: "*"}[self.sign]
        return f"{mark}{self}{mark}"


def over_seeds(differences: Sequence[float], errors: Sequence[float] | None = None, /) -> OverSeeds:
    """Paired differences, one for each seed, and the standard error that each has from the test sample.

    The seeds give Student's interval of their mean; the test sample, which all seeds share, widens it as if nothing of
    its chance could be seen in their spread. With one seed there is only the test sample's.

    >>> str(over_seeds([0.01, 0.02, 0.03]))
    '+2.00 [-0.48, +4.48]'
    """
    values = np.asarray(differences, dtype=np.float64)
    n = len(values)
    tests = 0.0 if errors is None else float(np.mean(np.square(errors)))
    seeds = float(values.var(ddof=1) / n) if n > 1 else 0.0
    quantile = float(stdtrit(n - 1, 0.975)) if n > 1 else 0.0
    half = float(np.sqrt(quantile**2 * seeds + ndtri(0.975) ** 2 * tests))
    mean = float(values.mean())
    return OverSeeds(mean, float(np.sqrt(seeds + tests)), mean - half, mean + half, n)


def spread(values: Sequence[float], /) -> str:
    """Mean and standard deviation of shares, times 100; nothing of nothing.

    >>> spread([0.01, 0.03]), spread([0.5])
    ('2.00 ± 1.41', '50.00')
    """
    deviation = f" ± {100 * np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
    return f"{100 * np.mean(values):.2f}{deviation}" if len(values) else ""

"""Differences over training seeds: their mean, and an interval for chance in training and in testing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot, inf, sqrt

import numpy as np
from scipy.special import ndtri, stdtrit

from abstain_reproduction.outcome import Outcome

LEVEL = 0.95


@dataclass(frozen=True)
class SeedInterval:
    """A mean over seeds with its 95% interval; below zero means that the first is better."""

    mean: float
    training_se: float
    """By chance in training, from the spread over seeds; zero with one seed, infinite where that is all there is."""
    testing_se: float
    """By chance in testing, which all seeds share."""
    seeds: int

    def __neg__(self) -> "SeedInterval":
        """The second less the first."""
        return replace(self, mean=-self.mean)

    def interval(self, level: float = LEVEL, /) -> tuple[float, float]:
        """Student's for the seeds, widened by the test sample's as if none of its chance showed in their spread."""
        quantile = (1 + level) / 2
        student = float(stdtrit(self.seeds - 1, quantile)) if self.seeds > 1 else 1.0
        half = hypot(student * self.training_se, float(ndtri(quantile)) * self.testing_se)
        return self.mean - half, self.mean + half

    @property
    def low(self) -> float:
        """The lower end of the 95% interval."""
        return self.interval()[0]

    @property
    def high(self) -> float:
        """The upper end of the 95% interval."""
        return self.interval()[1]

    def sign(self) -> int:
        """−1 or 1 where the interval leaves out zero, else 0."""
        return int(self.low > 0) - int(self.high < 0)

    def is_better(self, outside: float, /) -> Outcome:
        """Whether the first is better, by an interval that misses the truth by ``outside``."""
        low, high = self.interval(1 - outside)
        return "held" if high < 0 else "not held" if low > 0 else "undecided"

    def is_within(self, bound: float, outside: float, /) -> Outcome:
        """Whether the two are within a bound of each other."""
        low, high = self.interval(1 - outside)
        if -bound <= low and high <= bound:
            return "held"
        low, high = self.interval(1 - outside / 2)  # apart on either side takes both tails
        return "not held" if low > bound or high < -bound else "undecided"

    def __str__(self) -> str:
        return f"{100 * self.mean:+.2f} [{100 * self.low:+.2f}, {100 * self.high:+.2f}]".replace("-", "−")

    def marked(self) -> str:
        """In Markdown: bold where the first is better, italic where it is worse."""
        mark = {-1: "**", 0: "", 1: "*"}[self.sign()]
        return f"{mark}{self}{mark}"

    def to_dict(self) -> dict[str, float]:
        """Plain data."""
        return {"mean": self.mean, "low": self.low, "high": self.high, "seeds": self.seeds}


def seed_interval(differences: Sequence[float], errors: Sequence[float] = (), /) -> SeedInterval:
    """Of paired differences, one for each seed, and the standard error that each has from the test sample.

    >>> str(seed_interval([0.01, 0.02, 0.03]))
    '+2.00 [−0.48, +4.48]'
    """
    values = np.asarray(differences, dtype=np.float64)
    testing = sqrt(float(np.mean(np.square(errors)))) if len(errors) else 0.0
    alone = 0.0 if len(errors) else inf  # one run says nothing of another
    training = float(values.std(ddof=1)) / sqrt(len(values)) if len(values) > 1 else alone
    return SeedInterval(float(values.mean()), training, testing, len(values))


def spread(values: Sequence[float], /) -> str:
    """Mean and standard deviation of shares, times 100; an empty string for no shares.

    >>> spread([0.01, 0.03]), spread([0.5])
    ('2.00 ± 1.41', '50.00')
    """
    deviation = f" ± {100 * np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
    return f"{100 * np.mean(values):.2f}{deviation}" if len(values) else ""

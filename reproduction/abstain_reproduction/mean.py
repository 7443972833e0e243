"""A mean over repetitions with its standard error, as tables and verdicts print it."""

from dataclasses import dataclass

from scipy.special import ndtri


@dataclass(frozen=True)
class Mean:
    """A mean with its standard error.

    >>> f"{Mean(0.021, 0.005).times(100):+.1f}"
    '+2.1 ± 0.5'
    >>> f"{Mean(-0.021, 0.005).times(100):.1f}"
    '−2.1 ± 0.5'
    """

    mean: float
    se: float

    @property
    def is_significant(self) -> bool:
        """Whether the interval leaves out zero."""
        low, high = self.interval()
        return low > 0 or high < 0

    def interval(self, *, among: int = 1) -> tuple[float, float]:
        """The 95% interval, joint over so many comparisons (Bonferroni)."""
        half = float(ndtri(1 - 0.025 / among)) * self.se
        return self.mean - half, self.mean + half

    def __format__(self, form: str) -> str:
        error = form.lstrip("+")
        return f"{self.mean:{form}} ± {self.se:{error}}".replace("-", "−")

    def times(self, factor: float, /) -> "Mean":
        """In other units."""
        return Mean(factor * self.mean, abs(factor) * self.se)

"""A mean over repetitions with its standard error, as tables and verdicts tell it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mean:
    """A mean with its standard error.

    >>> f"{Mean(0.021, 0.005).times(100):+.1f}"
    '+2.1 ± 0.5'
    """

    mean: float
    se: float

    @property
    def is_significant(self) -> bool:
        """Whether it is more than 1.96 standard errors from zero."""
        return abs(self.mean) > 1.96 * self.se

    def __format__(self, form: str) -> str:
        error = form.lstrip("+")
        return f"{self.mean:{form}} ± {self.se:{error}}"

    def times(self, factor: float, /) -> "Mean":
        """In other units."""
        return Mean(factor * self.mean, abs(factor) * self.se)

"""A share of samples with its interval; copies of a sample count once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv


@dataclass(frozen=True)
class ShareInterval:
    """A share with its 95% interval.

    >>> f"{ShareInterval.of(np.array([True, True, False, True]), None):.0%}"
    '75% [19%, 99%]'
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, inside: NDArray[np.bool_], ids: NDArray[np.generic] | None, /) -> "ShareInterval":
        """Clopper and Pearson's interval of as many samples as clusters of these sizes are worth at least.

        A cluster whose rows all agree is worth one sample, whatever its size; with unequal sizes n clusters are worth
        (Σ size)² / Σ size² (Kish, 1965).
        """
        sizes = np.ones(len(inside)) if ids is None else np.unique(ids, return_counts=True)[1].astype(np.float64)
        n, share = float(sizes.sum() ** 2 / np.square(sizes).sum()), float(inside.mean())
        hits = share * n
        low = float(betaincinv(hits, n - hits + 1, 0.025)) if hits > 0 else 0.0
        high = float(betaincinv(hits + 1, n - hits, 0.975)) if hits < n else 1.0
        return cls(share, low, high)

    @property
    def is_most(self) -> bool | None:
        """Whether it is more than half, or None if the interval contains one half."""
        return True if self.low > 0.5 else False if self.high < 0.5 else None

    def __format__(self, form: str) -> str:
        return f"{self.value:{form}} [{self.low:{form}}, {self.high:{form}}]"

"""Means over repeated random splits of one table, with an error that knows the splits overlap."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.draws import generator


@dataclass(frozen=True)
class SplitMean:
    """A mean over splits with its standard error."""

    mean: float
    se: float

    @property
    def is_significant(self) -> bool:
        """Whether it is more than 1.96 standard errors from zero."""
        return abs(self.mean) > 1.96 * self.se

    def __format__(self, form: str) -> str:
        error = form.lstrip("+")
        return f"{self.mean:{form}} ± {self.se:{error}}"

    def times(self, factor: float) -> "SplitMean":
        """In other units."""
        return SplitMean(factor * self.mean, abs(factor) * self.se)


def split_mean(values: ArrayLike, /, *, tested: float) -> SplitMean:
    """The mean of one value per split, ``tested`` rows being tested for each that is trained on.

    The rows of splits overlap, so sd/√J is far too small; the error is sd·√(1/J + tested) (Nadeau & Bengio, 2003).

    >>> f"{split_mean([1.0, 2.0, 3.0], tested=1.0):.2f}"
    '2.00 ± 1.15'
    """
    found = np.asarray(values, dtype=np.float64)
    return SplitMean(float(found.mean()), float(found.std(ddof=1) * np.sqrt(1 / len(found) + tested)))


def parts(labels: NDArray[np.int64], shares: tuple[float, ...], /, *, seed: int) -> list[NDArray[np.int64]]:
    """Rows of a table in random parts of given shares, each class spread over all of them."""
    rng = generator("parts of a table", seed, labels)
    found: list[list[NDArray[np.int64]]] = [[] for _ in shares]
    ends = np.cumsum(shares)[:-1]
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        for part, some in zip(found, np.split(rows, np.rint(ends * len(rows)).astype(int)), strict=True):
            part.append(some)
    return [np.sort(np.concatenate(part)) for part in found]

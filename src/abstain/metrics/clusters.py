"""Clusters of samples that belong together, and standard errors that count each of them once."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import as_names
from abstain.kernels.distinct import numbered
from abstain.kernels.sums import exact_sum, exact_sums

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Clusters:
    """The cluster of every row, worked out once for any number of standard errors."""

    number: NDArray[np.int64]
    """(n,) from 0 to size − 1."""
    size: int
    """How many clusters there are."""

    @classmethod
    def of(cls, ids: ArrayLike | None, n: int, /) -> "Clusters | None":
        """Rows with the same ids are one cluster; None where every row is its own."""
        if ids is None:
            return None
        names = as_names("ids", ids)
        if names.shape != (n,):
            raise ValueError(f"`ids` must have shape {(n,)}, one per sample, got {names.shape}.")
        number, size = numbered(names)
        return None if size == n else cls(number, size)

    def among(self, rows: NDArray[np.bool_], /) -> "Clusters | None":
        """Those of the rows of a mask, numbered anew; None where every row is its own."""
        number = self.number[rows]
        is_there = np.bincount(number, minlength=self.size) > 0
        size = int(np.count_nonzero(is_there))
        return None if size == len(number) else Clusters((np.cumsum(is_there) - 1)[number], size)


def cluster_sums(values: Floats, clusters: Clusters | None, /) -> Floats:
    """The sum of each cluster's values, (c,), whatever the order of the rows."""
    return values if clusters is None else exact_sums(values, clusters.number, clusters.size)


def standard_error(influence: Floats, clusters: Clusters | None, /) -> float:
    """√(c/(c−1) Σ_clusters (Σ a_i)²)/n for centred influence values a; for clusters of one it is sd(a)/√n."""
    sums = cluster_sums(influence, clusters)
    return error_of_sums(exact_sum(np.square(sums)), len(sums), len(influence))


def error_of_sums(squares: float, c: int, n: int, /) -> float:
    """The standard error of a mean of n values from the squares of the sums of c clusters, whose mean is 0."""
    return error_of_mean(squares, c) * (c / n)


def error_of_mean(squares: float, c: int, /) -> float:
    """√(c/(c−1) · squares)/c, the standard error of a mean of c values whose squared deviations sum to ``squares``."""
    if c < 2:
        raise ValueError(f"A standard error must have at least 2 different samples, got {c}.")
    return sqrt(max(0.0, squares) * c / (c - 1)) / c

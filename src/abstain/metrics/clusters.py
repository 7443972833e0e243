"""Clusters of samples that belong together, and standard errors that count each of them once."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_names
from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain._kernels.counts import numbered
from abstain._kernels.sums import exact_sum, exact_sums


@dataclass(frozen=True)
class RowClusters:
    """The cluster of every row, worked out once for any number of standard errors."""

    number: NDArray[np.int64]
    """(n,) from 0 to size − 1."""
    size: int
    """How many clusters there are."""

    @classmethod
    def of(cls, ids: ArrayLike | None, n: int, /) -> "RowClusters | None":
        """Rows with the same ids are one cluster; None where every row is its own."""
        if ids is None:
            return None
        names = as_names("ids", ids)
        if names.shape != (n,):
            raise InvalidInputError(f"`ids` must have shape {(n,)}, one per sample, got {names.shape}.")
        number, size = numbered(names)
        return None if size == n else cls(number, size)

    def among(self, rows: NDArray[np.bool_], /) -> "RowClusters | None":
        """Those of the rows of a mask, numbered from 0; None where every row is its own."""
        number = self.number[rows]
        is_there = np.bincount(number, minlength=self.size) > 0
        size = int(np.count_nonzero(is_there))
        return None if size == len(number) else RowClusters((np.cumsum(is_there) - 1)[number], size)


def cluster_sums(values: Floats, clusters: RowClusters | None, /) -> Floats:
    """The sum of each cluster's values, (c,), whatever the order of the rows."""
    return values if clusters is None else exact_sums(values, clusters.number, clusters.size)


def standard_error(influence: Floats, clusters: RowClusters | None, /) -> float:
    """√(c/(c−1) Σ_clusters (Σ a_i)²)/n for centred influence values a; for clusters of one it is sd(a)/√n."""
    sums = cluster_sums(influence, clusters)
    return error_of_sums(exact_sum(np.square(sums)), len(sums), len(influence))


def error_of_sums(squares: float, c: int, n: int, /) -> float:
    """The standard error of a mean of n values from the squares of the sums of c clusters, whose mean is 0."""
    return error_of_mean(squares, c) * (c / n)


def error_of_mean(squares: float, c: int, /) -> float:
    """√(c/(c−1) · squares)/c, the standard error of a mean of c values whose squared deviations sum to ``squares``."""
    if c < 2:
        raise InvalidInputError(f"A standard error must have at least 2 different samples, got {c}.")
    return sqrt(max(0.0, squares) * c / (c - 1)) / c

"""Standard errors of what has no formula for them, by leaving out groups of samples."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain_reproduction.draws import generator

GROUPS = 50


def jackknife(
    statistic: Callable[[NDArray[np.int64]], ArrayLike], ids: NDArray[np.generic], /
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Value and standard error of a statistic of rows, or of several, by leaving out 50 random groups of ids in turn.

    A group is large enough for quantiles, whose errors the jackknife of single rows gets wrong. (Shao & Wu, 1989)
    """
    distinct, number = np.unique(ids, return_inverse=True)
    group = generator("groups to leave out", 0, distinct).permutation(len(distinct))[number] % GROUPS
    rows = np.arange(len(ids))
    left = np.array([statistic(rows[group != left_out]) for left_out in range(GROUPS)], dtype=np.float64)
    error = np.sqrt((GROUPS - 1) / GROUPS * np.square(left - left.mean(axis=0)).sum(axis=0))
    return np.asarray(statistic(rows), dtype=np.float64), error

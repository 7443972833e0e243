"""Upper confidence bounds of the selective risk at many thresholds, each for itself."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def upper_bounds(errors: Ints, accepted: Ints, /, *, delta: float, size: Floats | None = None) -> Floats:
    """Clopper and Pearson's bound, exact for independent rows: each holds with probability 1 − δ, not all together.

    With an effective ``size`` of the accepted rows, which clusters make smaller, it is Korn and Graubard's (1998).

    >>> upper_bounds(np.array([3, 0, 5]), np.array([100, 10, 5]), delta=0.05).round(6)
    array([0.075711, 0.258866, 1.      ])
    """
    n = accepted.astype(np.float64) if size is None else size
    wrong = errors.astype(np.float64) if size is None else n * errors / np.maximum(accepted, 1)
    inside = errors < accepted
    found = betaincinv(np.where(inside, wrong, 0.0) + 1, np.where(inside, n - wrong, 1.0), 1 - delta)
    return np.where(inside, found, 1.0)


def effective_sizes(cluster: Ints, errors: NDArray[np.bool_], ranks: Ints, /) -> Floats:
    """How many independent rows the first ``ranks`` rows are worth, given the cluster of each row, in their order.

    The variance of the risk between clusters is compared with that of independent rows. Where all rows are right, or
    all wrong, nothing can be compared: the rows of a cluster then count as copies of each other.
    """
    order = np.argsort(cluster, kind="stable")
    first = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    size = np.diff(first, append=len(order))
    wrong = errors[order].astype(np.int64)
    before = np.cumsum(wrong) - wrong
    rows_before, errors_before = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    rows_before[order] = np.arange(len(order)) - np.repeat(first, size)
    errors_before[order] = before - np.repeat(before[first], size)
    e = errors.astype(np.int64)
    # sums over clusters of A², AE and E², A and E being a cluster's accepted rows and errors, row by row
    squares, products, error_squares = (
        np.concatenate([[0], np.cumsum(step)])[ranks].astype(np.float64)
        for step in (2 * rows_before + 1, errors_before + e * (rows_before + 1), e * (2 * errors_before + 1))
    )
    n = np.maximum(ranks, 1).astype(np.float64)
    risk = np.concatenate([[0], np.cumsum(e)])[ranks] / n
    between = error_squares - 2 * risk * products + risk**2 * squares
    independent = n * risk * (1 - risk)
    with np.errstate(invalid="ignore", divide="ignore"):
        effect = np.where(independent > 0, between / independent, squares / n)
    return n / np.maximum(effect, 1.0)

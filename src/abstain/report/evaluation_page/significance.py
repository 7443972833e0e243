"""How sure the risk among accepted rows is, clusters counted once."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from abstain.report.evaluation_page.bounds import effective_sizes, upper_bounds

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def worth(errors: Bools, clusters: Ints | None, /) -> float:
    """How many independent rows these rows are worth."""
    n = len(errors)
    if clusters is None or not n:
        return float(n)
    return float(effective_sizes(clusters, errors, np.array([n]))[0])


def upper_bound_of(errors: Bools, clusters: Ints | None, /, *, delta: float) -> float:
    """The risk that these rows come from is at most this, with probability 1 − δ; 1 for no rows."""
    if not len(errors):
        return 1.0
    wrong, n = np.array([np.count_nonzero(errors)]), np.array([len(errors)])
    size = None if clusters is None else np.array([worth(errors, clusters)])
    return float(upper_bounds(wrong, n, delta=delta, size=size)[0])


def p_above(errors: Bools, clusters: Ints | None, risk: float, /) -> float:
    """P(Bin(n, risk) ≥ errors): the p-value of "the risk is at most ``risk``", exact for independent rows.

    >>> round(p_above(np.array([True] * 4 + [False] * 16), None, 0.05), 6)
    0.015902
    """
    wrong, n = np.count_nonzero(errors), len(errors)
    if not wrong:
        return 1.0
    size = worth(errors, clusters)
    return float(betainc(size * wrong / n, size * (1 - wrong / n) + 1, risk))


def adjusted(p: list[float], /) -> list[float]:
    """Holm's p-values: to call all below δ significant is wrong anywhere with probability at most δ.

    >>> adjusted([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    steps = np.asarray(p)[order] * np.arange(len(p), 0, -1)
    found = np.empty(len(p))
    found[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(one) for one in found]

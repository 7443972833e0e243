"""P-values of many tests together."""

import numpy as np


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

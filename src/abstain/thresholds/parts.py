"""Parts of the rows, such as domains and classes, whose risk is above a limit: all of them tested together."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.distinct import numbered
from abstain.thresholds.refutation import refutation_p

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def p_above(
    parts: Sequence[Ints],
    errors: Mask,
    accepted: Mask,
    clusters: Ints | None,
    /,
    *,
    limit: float,
    level: float,
    largest: int,
) -> list[float]:
    """Of each part, given by its rows, Holm's p-value of "its risk among the accepted is at most ``limit``".

    To call all with a p-value of at most ``level`` above the limit is wrong anywhere with probability at most
    ``level``. A part of which nothing is accepted counts too: which those are may depend on clusters that others share.
    """
    found = [
        refutation_p(
            errors[rows],
            accepted[rows],
            None if clusters is None else numbered(clusters[rows])[0],
            limit=limit,
            level=level / len(parts),
            largest=largest,
        )
        if accepted[rows].any()
        else 1.0
        for rows in parts
    ]
    return holm(found)


def holm(p: Sequence[float], /) -> list[float]:
    """P-values adjusted for their number (Holm, 1979): at least as powerful as the level over their number.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    steps = np.asarray(p)[order] * np.arange(len(p), 0, -1)
    found = np.empty(len(p))
    found[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(one) for one in found]

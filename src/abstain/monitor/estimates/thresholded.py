"""The share of new rows beyond the threshold that as large a share of reference rows is beyond as are wrong."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def share_below(known: Floats, new: Floats, share: float, /) -> float:
    """The share of ``new`` below the value that ``share`` of ``known`` are below; ties are counted in proportion.

    >>> share_below(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.5, 1.5, 3.5, 4.5]), 0.5)
    0.5
    >>> share_below(np.array([1.0, 1.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0, 2.0]), 0.5)
    0.5
    """
    ordered = np.sort(known)
    count = share * len(ordered)
    value = ordered[max(0, int(np.ceil(count - 1e-9)) - 1)]
    below, up_to = np.searchsorted(ordered, value, "left"), np.searchsorted(ordered, value, "right")
    of_ties = (count - below) / (up_to - below)
    return float(np.mean(new < value) + max(0.0, of_ties) * np.mean(new == value))

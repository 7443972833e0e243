"""How many equal samples a weighted sample is worth."""

import numpy as np
from numpy.typing import ArrayLike


def effective_size(weights: ArrayLike, /) -> float:
    """Kish's effective sample size (Σw)² / Σw².

    >>> round(effective_size([1, 2, 0.5, 3, 1.5]), 4)
    3.8788
    """
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim != 1 or not (w >= 0).all() or not w.sum() > 0 or not np.isfinite(w).all():
        raise ValueError(f"`weights` must be finite, not negative and not all zero, got {weights!r}.")
    w = np.sort(w)  # so that the order of the rows changes no digit
    return float(w.sum() ** 2 / np.square(w).sum())

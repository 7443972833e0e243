"""Which rows are meant: masks and numbers, checked."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def as_places(rows: ArrayLike, n: int, /) -> slice | NDArray[Any]:
    """The rows of a mask of n, or of numbers in their order.

    As a slice where they follow each other, so that what they select is viewed and not copied.
    """
    index = np.asarray(rows)
    if index.dtype == bool and index.shape != (n,):
        raise ValueError(f"`rows` as a mask must have shape ({n},), got {index.shape}.")
    places = np.flatnonzero(index) if index.dtype == bool else index
    if places.size == 0:
        raise ValueError("`rows` must select at least one row, got none.")
    if places.dtype.kind not in "iu" or places.ndim != 1:
        raise TypeError(f"`rows` must be a mask or a list of indices, got {index.dtype} of shape {index.shape}.")
    if places.max() >= n or places.min() < -n:
        raise IndexError(f"`rows` must be below the number of rows ({n}), got {places.max()}.")
    first, last = int(places[0]), int(places[-1])
    follows = first >= 0 and last - first == len(places) - 1 and bool((np.diff(places) == 1).all())
    return slice(first, last + 1) if follows else places

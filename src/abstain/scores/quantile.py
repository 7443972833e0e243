"""A quantile of many numbers."""

import numpy as np
from numpy.typing import NDArray


def quantile(values: NDArray[np.floating], share: float, /) -> float:
    """The quantile with linear interpolation in float64, of values partitioned in their own type, which is faster."""
    flat = np.array(values if values.dtype.itemsize > 2 else values.astype(np.float32)).ravel()
    place = share * (flat.size - 1)
    below = min(int(place), flat.size - 1)
    above = min(below + 1, flat.size - 1)
    flat.partition((below, above))
    low, high = float(flat[below]), float(flat[above])
    return low + (place - below) * (high - low)

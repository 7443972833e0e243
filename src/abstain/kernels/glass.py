"""Shuffle pixels with their neighbours, one after the other."""

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.compiled import array, compiled, single, whole


@compiled((array(single, 3), array(whole, 2), whole))
def shuffle_neighbours(image: NDArray[np.float32], steps: NDArray[np.int64], reach: int) -> None:
    """Swap each pixel, from the last to the first, with the one ``steps`` away; pixels ``reach`` from the edge stay."""
    height, width, channels = image.shape
    place = 0
    for h in range(height - reach - 1, reach - 1, -1):
        for w in range(width - reach - 1, reach - 1, -1):
            h2 = h + steps[place, 0]
            w2 = w + steps[place, 1]
            place += 1
            for c in range(channels):
                image[h, w, c], image[h2, w2, c] = image[h2, w2, c], image[h, w, c]

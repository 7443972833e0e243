"""Random draws, salted with their purpose and with the data they are drawn from.

A split must not depend on confidence, label, or the order of rows or ids, nor equal a stream that the user made. A
generator that knows only a seed gives the same ranks to the same part whenever rows come sorted, and the user's own
permutation when the seeds agree. One seeded with a digest of the data as well gives other data another, unrelated draw,
and the same data the same one. Confidences are computed, and their last bits differ from processor to processor: draws
know them by their first digits.
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 1 << 22  # elements of an array that are read for the digest


def generator(purpose: str, seed: int, /, *data: Any) -> np.random.Generator:
    """A generator for one purpose; of each array of ``data`` up to four million evenly spaced elements are read.

    >>> generator("a", 0, [1.0, 2.0]).random() == generator("a", 0, [1.0, 2.0]).random()
    True
    >>> generator("a", 0, [1.0, 2.0]).random() == generator("b", 0, [1.0, 2.0]).random()
    False
    """
    digest = hashlib.sha256(f"abstain {purpose} {seed}".encode())
    for values in data:
        if values is not None:
            array = _thinned(values if hasattr(values, "ndim") else np.asarray(values))
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return np.random.default_rng(np.frombuffer(digest.digest(), dtype=np.uint32))


def coarse(values: Any, /, *, digits: int = 10) -> NDArray[np.float64]:
    """Computed numbers to some binary digits, times 2^digits: what a processor's last bits must not change knows these.

    >>> (coarse([0.1 + 0.2, -np.inf]) == coarse([0.3, -np.inf])).tolist()
    [True, True]
    """
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    return np.ldexp(np.round(mantissa * 2.0**digits), exponent)


def _thinned(array: Any) -> NDArray[np.generic]:
    """Evenly spaced rows, few enough to read, of an array or of what has the size and the rows of one."""
    return np.asarray(array[:: max(1, -(-array.size // LARGEST))] if array.ndim else array)

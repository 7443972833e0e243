"""Random draws, salted with their purpose and with the data they are drawn from.

A split must not depend on confidence, label, or the order of rows or ids, nor equal a stream that the user made. A
generator seeded by a number alone would split sorted rows by their rank, and repeat the user's own permutation when the
seeds agree. Therefore the seed includes a digest of the data: other data get an unrelated draw, the same data the same.
Computed confidences differ in their last bits from processor to processor, so only their leading digits enter; the same
holds for logits and confidences in double precision, as a logarithm or a matrix product of the user's made them.
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 1 << 22  # elements of an array that are read for the digest


def generator(purpose: str, seed: int, /, *data: Any) -> np.random.Generator:
    """A generator for one purpose; at most four million evenly spaced elements of each array of ``data`` are read.

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
    """Numbers rounded to some binary digits, times 2^digits, so that the last bits of a processor do not matter.

    >>> (coarse([0.1 + 0.2, -np.inf]) == coarse([0.3, -np.inf])).tolist()
    [True, True]
    """
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    with np.errstate(over="ignore"):  # beyond 1e298 all are alike
        return np.ldexp(np.round(mantissa * 2.0**digits), exponent)


def leading_digits(values: Any, /) -> Any:
    """Doubles, at most four million of an array, rounded to 16 binary digits; all else as it is.

    >>> (leading_digits(np.array([0.1 + 0.2])) == leading_digits(np.array([0.3]))).tolist()
    [True]
    """
    return coarse(_thinned(values), digits=16) if getattr(values, "dtype", None) == np.float64 else values


def _thinned(array: Any) -> NDArray[np.generic]:
    """Evenly spaced rows of an array or a view, at most ``LARGEST`` elements in all."""
    return np.asarray(array[:: max(1, -(-array.size // LARGEST))] if array.ndim else array)

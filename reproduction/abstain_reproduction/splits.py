"""Means over repeated random splits of one table, with an error that knows the splits overlap."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain_reproduction.draws import generator
from abstain_reproduction.mean import Mean


def split_mean(values: ArrayLike, /, *, tested: float) -> Mean:
    """The mean of one value per split, ``tested`` rows being tested for each that is trained on.

    The rows of splits overlap, so sd/√J is far too small; the error is sd·√(1/J + tested) (Nadeau & Bengio, 2003).

    >>> f"{split_mean([1.0, 2.0, 3.0], tested=1.0):.2f}"
    '2.00 ± 1.15'
    """
    sample = np.asarray(values, dtype=np.float64)
    return Mean(float(sample.mean()), float(sample.std(ddof=1) * np.sqrt(1 / len(sample) + tested)))


def parts(labels: NDArray[np.int64], shares: tuple[float, ...], /, *, seed: int) -> list[NDArray[np.int64]]:
    """Rows of a table in random parts of given shares, each class spread over all of them."""
    rng = generator("parts of a table", seed, labels)
    groups: list[list[NDArray[np.int64]]] = [[] for _ in shares]
    ends = np.cumsum(shares)[:-1]
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        for part, some in zip(groups, np.split(rows, np.rint(ends * len(rows)).astype(int)), strict=True):
            part.append(some)
    return [np.sort(np.concatenate(part)) for part in groups]

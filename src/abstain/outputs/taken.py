"""Rows of a large array, taken when they are looked at."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

ALWAYS_COPIED = 1 << 26  # bytes: up to here a copy costs less than to look it up


class Taken:
    """Some rows of an array (n, k) that may lie on disk; a look at them reads what is asked for and keeps nothing."""

    def __init__(self, array: NDArray[Any], places: NDArray[np.int64]) -> None:
        self.array, self.places = array, places

    @property
    def shape(self) -> tuple[int, int]:
        """As that of an array."""
        return len(self.places), self.array.shape[1]

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.shape[0] * self.shape[1]

    @property
    def ndim(self) -> int:
        """Always 2."""
        return 2

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        return self.array[self.places[rows]]

    def take(self, rows: slice | NDArray[Any]) -> Self:
        """Some of these rows."""
        return type(self)(self.array, self.places[rows])


Source = NDArray[Any] | Taken
"""What rows can be read from."""


def taken(array: Source, rows: slice | NDArray[Any], /) -> Source:
    """The rows of a slice as a view, those of numbers as a copy or, where that would be large, to be taken later."""
    if isinstance(array, Taken):
        return array.take(rows)
    if isinstance(rows, slice) or array.ndim != 2 or len(rows) * array.strides[0] <= ALWAYS_COPIED:
        return array[rows]
    return Taken(array, np.asarray(rows, dtype=np.int64) % len(array))

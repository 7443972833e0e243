"""Rows of outputs: selected by index or mask, viewed without a copy, drawn at random, joined."""

from math import ceil
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._errors import InvalidIndexError, InvalidInputError, InvalidTypeError
from abstain._kernels.counts import numbered
from abstain.outputs.header import FIELDS, ROW_FIELDS

ALWAYS_COPIED = 1 << 26  # bytes: up to here a copy costs less than looking rows up


class RowView:
    """Some rows of an array (n, k) that may be on disk; indexing reads what is asked for and stores nothing."""

    def __init__(self, array: NDArray[Any], indices: NDArray[np.int64]) -> None:
        self.array, self.indices = array, indices

    @property
    def shape(self) -> tuple[int, int]:
        """As of an array."""
        return len(self.indices), self.array.shape[1]

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.shape[0] * self.shape[1]

    @property
    def ndim(self) -> int:
        """Always 2."""
        return 2

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        return self.array[self.indices[rows]]

    def take(self, rows: slice | NDArray[Any]) -> Self:
        """Some of these rows."""
        return type(self)(self.array, self.indices[rows])


Source = NDArray[Any] | RowView
"""What rows can be read from."""


def take_rows(array: Source, rows: slice | NDArray[Any], /) -> Source:
    """The rows of a slice as a view; those of indices as a copy, or as a `RowView` where the copy would be large."""
    if isinstance(array, RowView):
        return array.take(rows)
    if isinstance(rows, slice) or array.ndim != 2 or len(rows) * array.strides[0] <= ALWAYS_COPIED:
        return array[rows]
    return RowView(array, np.asarray(rows, dtype=np.int64) % len(array))


def as_indices(rows: ArrayLike, n: int, /) -> slice | NDArray[Any]:
    """The indices in a mask of n rows, or indices as they are; a slice if consecutive, so that nothing is copied."""
    given = np.asarray(rows)
    if given.dtype == bool and given.shape != (n,):
        raise InvalidInputError(f"`rows` as a mask must have shape ({n},), got {given.shape}.")
    indices = np.flatnonzero(given) if given.dtype == bool else given
    if indices.size == 0:
        raise InvalidInputError("`rows` must select at least one row, got none.")
    if indices.dtype.kind not in "iu" or indices.ndim != 1:
        raise InvalidTypeError(f"`rows` must be a mask or a list of indices, got {given.dtype} of shape {given.shape}.")
    if indices.max() >= n or indices.min() < -n:
        raise InvalidIndexError(f"`rows` must be below the number of rows ({n}), got {indices.max()}.")
    first, last = int(indices[0]), int(indices[-1])
    is_consecutive = first >= 0 and last - first == len(indices) - 1 and bool((np.diff(indices) == 1).all())
    return slice(first, last + 1) if is_consecutive else indices


def draw_rows(
    n: int, ids: NDArray[np.generic] | None, /, *, size: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """A mask of about ``size`` of n rows; rows with the same ids are all in or all out, and neither side is empty.

    It takes that share of the clusters, whatever their sizes, so that both sides are independent draws of clusters.
    Stopping where the number of rows is nearest to ``size`` would leave out large clusters.
    """
    cluster, clusters = (np.arange(n), n) if ids is None else numbered(ids)
    if clusters < 2:
        raise InvalidInputError(f"`ids` must name at least 2 different samples to draw from, got {clusters}.")
    count = min(max(ceil(size * (clusters / n) - 0.5), 1), clusters - 1)
    drawn = np.zeros(clusters, dtype=bool)
    drawn[rng.permutation(clusters)[:count]] = True
    return drawn[cluster]


def check_parts(parts: list[Any], /) -> None:
    """Parts to join must have the same arrays, and the same head and names."""
    if not parts:
        raise InvalidInputError("`parts` must hold at least one Outputs, got none.")
    if strangers := [part for part in parts if not hasattr(part, "confidence_names")]:
        raise InvalidTypeError(f"`parts` must hold Outputs, got {type(strangers[0]).__name__}.")
    for number, part in enumerate(parts[1:], start=1):
        for name in (*FIELDS, "class_names", "confidence_names"):
            first, other = getattr(parts[0], name), getattr(part, name)
            if (first is None) != (other is None):
                raise InvalidInputError(
                    f"`{name}` must be given in all parts or in none, got a difference in part {number}."
                )
            if name in ("ids", "logits", "features") and first is not None:
                _check_kind(name, first, other, number)
            if name not in ROW_FIELDS and first is not None and not np.array_equal(first, other):
                raise InvalidInputError(f"`{name}` must be the same in all parts, got another in part {number}.")


def _check_kind(name: str, first: NDArray[Any], other: NDArray[Any], number: int) -> None:
    if first.shape[1:] != other.shape[1:]:
        raise InvalidInputError(
            f"`{name}` must have {first.shape[1]} columns in all parts, got {other.shape[1]} in part {number}."
        )
    if name == "ids" and (first.dtype.kind == "U") != (other.dtype.kind == "U"):
        raise InvalidTypeError(
            f"`ids` must be strings in all parts or numbers in all, got a difference in part {number}."
        )
    if name == "ids" and np.result_type(first, other).kind not in "Uiu":
        raise InvalidTypeError(f"`ids` must have one integer type in all parts, got {other.dtype} in part {number}.")

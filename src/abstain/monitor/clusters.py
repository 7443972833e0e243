"""Rows with the same id as one outcome each, for monitors that count clusters."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._errors import InvalidInputError
from abstain.monitor.monitor import ClusterValues, Monitor
from abstain.monitor.rows import Names, StreamRows
from abstain.outputs.columns import text
from abstain.thresholds.sample import check_names

Indices = NDArray[np.intp]
Ints = NDArray[np.int64]
HOW, VERDICT, IS_DECISION, HAS_CONFIDENCE, ERROR, ROW_KEY, IS_ROW, WAS_LABELLED, LABEL_OF = range(9)
"""The columns of what `abstain._kernels.decisions.take_rows` leaves of a row."""
WAITS = 2


def outcomes(monitor: Monitor, values: ArrayLike, ids: ArrayLike | None, /) -> NDArray[np.float64]:
    """What a monitor counts of rows: each value but NaN, or one for each cluster, in the order of `in_turn`."""
    each = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if not monitor.clustered:
        return each[~np.isnan(each)]
    if ids is None:
        raise InvalidInputError("`ids` must name the cluster of each row, since calibration had ids, got none.")
    given = np.atleast_1d(np.asarray(ids))
    if given.shape != each.shape:
        raise InvalidInputError(f"`ids` must have shape {each.shape}, one per row, got {given.shape}.")
    check_names("ids", given)
    numbers: dict[str, int] = {}
    cluster = np.empty(len(each), dtype=np.int64)
    for row, value in enumerate(given.tolist()):
        if (name := text(value)) is None:
            raise InvalidInputError(f"`ids` must name every row, got an empty string for row {row + 1}.")
        cluster[row] = numbers.setdefault(name, len(numbers))
    rank = ranks(np.arange(len(each)), cluster, list(numbers))
    counted = monitor.outcomes(grouped(rank[cluster], each, ~np.isnan(each), in_order(list(numbers), rank)))
    return counted[~np.isnan(counted)]


def grouped(
    cluster: Indices, values: NDArray[np.float64], counts: NDArray[np.bool_], names: Sequence[str], /
) -> ClusterValues:
    """Clusters of rows, numbered from 0 on in the order of their names, with the values of those that count."""
    n = len(names)
    kept = np.flatnonzero(counts)
    kept = kept[np.argsort(cluster[kept], kind="stable")]
    ends = np.cumsum(np.bincount(cluster[kept], minlength=n))
    return ClusterValues(names, np.bincount(cluster, minlength=n), values[kept], ends)


def in_order(names: Sequence[str], rank: Indices, /) -> list[str]:
    """The names by their ranks."""
    ordered = [""] * len(names)
    for name, index in zip(names, rank.tolist(), strict=True):
        ordered[index] = name
    return ordered


def ranks(numbers: NDArray[np.int64], cluster: Indices, names: Sequence[str], /) -> Indices:
    """(k,) the rank of each cluster in an order that sizes do not decide, from the numbers of the rows, which rise.

    Where clusters come one after the other that is their order. Where they are mixed, large ones begin early: then it
    is that of digests of the names.
    """
    last, first = np.zeros(len(names), dtype=np.int64), np.zeros(len(names), dtype=np.int64)
    last[cluster] = numbers
    first[cluster[::-1]] = numbers[::-1]
    order = np.argsort(first, kind="stable")
    if (last[order][:-1] >= first[order][1:]).any():
        digests = [blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names]
        order = np.argsort(np.frombuffer(b"".join(digests), dtype=">u8"), kind="stable")
    rank = np.empty(len(names), dtype=np.intp)
    rank[order] = np.arange(len(names))
    return rank


@final
@dataclass(frozen=True, eq=False)
class OpenRows:
    """Rows that wait until their clusters are closed, in the order they came."""

    number: Ints
    position: Ints
    """Its index among all rows that ever waited."""
    cluster: Ints
    """The key of its id; minus its number where it has none, which makes it a separate cluster."""
    names: Names
    confidence: NDArray[np.float64]
    left: Ints
    """What is new of each."""
    group: Ints
    """The number of its group, −1 for none."""

    @classmethod
    def none(cls) -> Self:
        """No rows."""
        none = np.zeros(0, dtype=np.int64)
        return cls(none, none, none, [], np.zeros(0), np.zeros((0, 9), dtype=np.int64), none)

    @classmethod
    def of(cls, rows: StreamRows, keys: Ints, left: Ints, groups: Ints, /, *, start: int, before: int) -> Self:
        """Those of a batch that wait; the first of the batch is number ``start``, and ``before`` have waited."""
        at = np.flatnonzero(left[:, HOW] == WAITS)
        names = [rows.ids[k] for k in at.tolist()]
        cluster = np.where(keys[at] == 0, -(start + at), keys[at])
        return cls(start + at, before + np.arange(len(at)), cluster, names, rows.confidence[at], left[at], groups[at])

    def __len__(self) -> int:
        return len(self.number)

    def taken(self, at: NDArray[np.intp], /) -> "OpenRows":
        """Some of the rows."""
        names = [self.names[k] for k in at.tolist()]
        number, position, cluster = self.number[at], self.position[at], self.cluster[at]
        return OpenRows(number, position, cluster, names, self.confidence[at], self.left[at], self.group[at])

    def labelled(self) -> Ints:
        """(n,) the error of each row, its own or that of a later row with its label; −1 where there is none."""
        later = self.left[:, LABEL_OF] >= 0
        errors = np.where(later, -1, self.left[:, ERROR])
        errors[np.searchsorted(self.position, self.left[later, LABEL_OF])] = self.left[later, ERROR]
        return np.where(self.left[:, VERDICT] == 0, -1, errors)


def joined(parts: Sequence[OpenRows], /) -> OpenRows:
    """Concatenate rows."""
    if len(parts) < 2:
        return parts[0] if parts else OpenRows.none()
    columns = {each.name: [getattr(part, each.name) for part in parts] for each in fields(OpenRows)}
    names = [name for part in columns.pop("names") for name in part]
    arrays = {name: np.concatenate(each) for name, each in columns.items()}
    return OpenRows(names=names, **arrays)

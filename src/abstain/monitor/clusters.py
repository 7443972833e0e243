"""Rows with the same id as one outcome each, for monitors that count clusters."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arrays import Ints
from abstain._errors import InvalidInputError
from abstain.monitor.monitor import ClusterValues, Monitor
from abstain.monitor.rows import StreamRows, distinct
from abstain.outputs.columns import text
from abstain.thresholds.sample import check_names

Names = Sequence[str]
HOW, VERDICT, IS_DECISION, HAS_CONFIDENCE, ERROR, ROW_KEY, IS_ROW, WAS_LABELLED, LABEL_OF = range(9)
"""The columns of what `abstain._kernels.decisions.take_rows` leaves of a row."""
WAITS = 2


def outcomes(monitor: Monitor, values: ArrayLike, ids: ArrayLike | None, /) -> NDArray[np.float64]:
    """What a monitor counts of rows: each value but NaN, or one for each cluster, in the order of `ordered`."""
    each = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if not monitor.clustered:
        return each[~np.isnan(each)]
    if ids is None:
        raise InvalidInputError("`ids` must name the cluster of each row, since calibration had ids, got none.")
    given = np.atleast_1d(np.asarray(ids))
    if given.shape != each.shape:
        raise InvalidInputError(f"`ids` must have shape {each.shape}, one per row, got {given.shape}.")
    check_names("ids", given)
    names, cluster = distinct(list(map(text, given.tolist())))
    if None in names:
        row = int(np.argmax(cluster == names.index(None)))
        raise InvalidInputError(f"`ids` must name every row, got an empty string for row {row + 1}.")
    cluster, ordered_names = ordered(np.arange(len(each)), cluster, [str(name) for name in names])
    counted = monitor.outcomes(grouped(cluster, each, ~np.isnan(each), ordered_names))
    return counted[~np.isnan(counted)]


def grouped(cluster: Ints, values: NDArray[np.float64], counts: NDArray[np.bool_], names: Names, /) -> ClusterValues:
    """Clusters of rows, numbered from 0 on in the order of their names, with the values of those that count."""
    n = len(names)
    kept = np.flatnonzero(counts)
    kept = kept[np.argsort(cluster[kept], kind="stable")]
    ends = np.cumsum(np.bincount(cluster[kept], minlength=n))
    return ClusterValues(names, np.bincount(cluster, minlength=n), values[kept], ends)


def ordered(numbers: Ints, cluster: Ints, names: Names, /) -> tuple[Ints, Names]:
    """The rank of each row's cluster in an order that sizes do not decide, and the names of the clusters in it.

    The numbers of the rows rise. Where clusters come one after the other that is their order. Where they are mixed,
    large ones begin early: then it is that of digests of the names.
    """
    last, first = np.zeros(len(names), dtype=np.int64), np.zeros(len(names), dtype=np.int64)
    last[cluster] = numbers
    first[cluster[::-1]] = numbers[::-1]
    order = np.argsort(first, kind="stable")
    if (last[order][:-1] >= first[order][1:]).any():
        digests = [blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names]
        order = np.argsort(np.frombuffer(b"".join(digests), dtype=">u8"), kind="stable")
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return rank[cluster], [names[k] for k in order.tolist()]


@final
@dataclass(frozen=True, eq=False)
class OpenRows:
    """Rows that wait until their clusters are closed, in the order they came."""

    number: Ints
    position: Ints
    """Its index among all rows that ever waited."""
    cluster: Ints
    """The key of its id; minus its number where it has none, which makes it a separate cluster."""
    names: NDArray[np.object_]
    confidence: NDArray[np.float64]
    left: Ints
    """What is new of each."""
    group: Ints
    """The number of its group, −1 for none."""

    @classmethod
    def none(cls) -> Self:
        """No rows."""
        none = np.zeros(0, dtype=np.int64)
        return cls(none, none, none, np.zeros(0, dtype=object), np.zeros(0), np.zeros((0, 9), dtype=np.int64), none)

    @classmethod
    def of(cls, rows: StreamRows, keys: Ints, left: Ints, groups: Ints, /, *, start: int, before: int) -> Self:
        """Those of a batch that wait; the first of the batch is number ``start``, and ``before`` have waited."""
        at = np.flatnonzero(left[:, HOW] == WAITS)
        names = np.array([rows.ids[k] for k in at.tolist()], dtype=object)
        cluster = np.where(keys[at] == 0, -(start + at), keys[at])
        return cls(start + at, before + np.arange(len(at)), cluster, names, rows.confidence[at], left[at], groups[at])

    @classmethod
    def joined(cls, parts: Sequence["OpenRows"], /) -> Self:
        """Those of all parts."""
        columns = ([getattr(part, field.name) for part in (cls.none(), *parts)] for field in fields(cls))
        return cls(*map(np.concatenate, columns))

    def __len__(self) -> int:
        return len(self.number)

    def __getitem__(self, rows: NDArray[np.bool_]) -> "OpenRows":
        return OpenRows(*(getattr(self, field.name)[rows] for field in fields(self)))

    def labelled(self) -> Ints:
        """(n,) the error of each row, its own or that of a later row with its label; −1 where there is none."""
        later = self.left[:, LABEL_OF] >= 0
        errors = np.where(later, -1, self.left[:, ERROR])
        errors[np.searchsorted(self.position, self.left[later, LABEL_OF])] = self.left[later, ERROR]
        return np.where(self.left[:, VERDICT] == 0, -1, errors)

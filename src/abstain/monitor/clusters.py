"""Rows with the same id as one outcome each, for monitors that count clusters."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.monitor.monitor import Monitor
from abstain.monitor.row import Clusters
from abstain.outputs.columns import text
from abstain.thresholds.sample import check_names

Places = NDArray[np.intp]


def outcomes(monitor: Monitor, values: ArrayLike, ids: ArrayLike | None, /) -> NDArray[np.float64]:
    """What a monitor counts of rows: each value but NaN, or one for each cluster, in the order of `in_turn`."""
    each = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if not monitor.clustered:
        return each[~np.isnan(each)]
    if ids is None:
        raise ValueError("`ids` must name the cluster of each row, since calibration had ids, got none.")
    given = np.atleast_1d(np.asarray(ids))
    if given.shape != each.shape:
        raise ValueError(f"`ids` must have shape {each.shape}, one per row, got {given.shape}.")
    check_names("ids", given)
    numbers: dict[str, int] = {}
    cluster = np.empty(len(each), dtype=np.int64)
    for place, value in enumerate(given.tolist()):
        if (name := text(value)) is None:
            raise ValueError(f"`ids` must name every row, got an empty text for row {place + 1}.")
        cluster[place] = numbers.setdefault(name, len(numbers))
    rank = ranks(np.arange(len(each)), cluster, list(numbers))
    found = monitor.outcomes(grouped(rank[cluster], each, ~np.isnan(each), in_order(list(numbers), rank)))
    return found[~np.isnan(found)]


def grouped(
    cluster: Places, values: NDArray[np.float64], counts: NDArray[np.bool_], names: Sequence[str], /
) -> Clusters:
    """Clusters of rows, numbered from 0 on in the order of their names, with the values of those that count."""
    n = len(names)
    kept = np.flatnonzero(counts)
    kept = kept[np.argsort(cluster[kept], kind="stable")]
    ends = np.cumsum(np.bincount(cluster[kept], minlength=n))
    return Clusters(names, np.bincount(cluster, minlength=n), values[kept], ends)


def in_order(names: Sequence[str], rank: Places, /) -> list[str]:
    """The names by their ranks."""
    found = [""] * len(names)
    for name, place in zip(names, rank.tolist(), strict=True):
        found[place] = name
    return found


def ranks(numbers: NDArray[np.int64], cluster: Places, names: Sequence[str], /) -> Places:
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
    found = np.empty(len(names), dtype=np.intp)
    found[order] = np.arange(len(names))
    return found

"""Rows with the same id as one outcome each, for monitors that count clusters."""

from collections.abc import Mapping
from hashlib import blake2b
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.monitor.monitor import Monitor
from abstain.monitor.row import Cluster, to_name
from abstain.thresholds.sample import check_names

Key = TypeVar("Key", str, str | int)


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
    of: dict[str, list[int]] = {}
    for place, value in enumerate(given.tolist()):
        if (name := to_name(value)) is None:
            raise ValueError(f"`ids` must name every row, got an empty text for row {place + 1}.")
        of.setdefault(name, []).append(place)
    found = []
    for name in in_turn({name: (places[0], places[-1]) for name, places in of.items()}):
        inside = each[of[name]]
        if counted := tuple(inside[~np.isnan(inside)].tolist()):
            found.append(monitor.outcome(Cluster(name, len(inside), counted)))
    return np.array([outcome for outcome in found if outcome is not None])


def in_turn(spans: Mapping[Key, tuple[int, int]], /) -> list[Key]:
    """The names of clusters in an order that their sizes do not decide, from their first and last rows.

    Where they come one after the other that is their order. Where they are mixed, large ones begin early: then it is
    that of digests of the names.
    """
    order = sorted(spans, key=lambda name: spans[name][0])
    if all(spans[one][1] < spans[other][0] for one, other in pairwise(order)):
        return order
    return sorted(spans, key=lambda name: blake2b(str(name).encode("utf-8", "surrogatepass"), digest_size=8).digest())

"""Rows with the same id as one outcome each, for monitors that count clusters."""

from collections.abc import Mapping
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.monitor.monitor import Monitor
from abstain.monitor.row import Cluster
from abstain.thresholds.sample import check_names


def outcomes(monitor: Monitor, values: ArrayLike, ids: ArrayLike | None, /) -> NDArray[np.float64]:
    """What a monitor counts of rows: each value but NaN, or one for each cluster, in the order of `in_turn`."""
    each = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if not monitor.clustered:
        return each[~np.isnan(each)]
    if ids is None:
        raise ValueError("`ids` must name the cluster of each row, since calibration had ids, got none.")
    names = check_names("ids", ids)
    if names.shape != each.shape:
        raise ValueError(f"`ids` must have shape {each.shape}, one per row, got {names.shape}.")
    distinct, number = np.unique(names, return_inverse=True)
    order = np.argsort(number, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(number, minlength=len(distinct)))[:-1]) if len(each) else []
    of = {str(name): inside for name, inside in zip(distinct.tolist(), rows, strict=True)}
    found = []
    for name in in_turn({name: (int(inside[0]), int(inside[-1])) for name, inside in of.items()}):
        inside = each[of[name]]
        if counted := tuple(inside[~np.isnan(inside)].tolist()):
            found.append(monitor.outcome(Cluster(name, len(inside), counted)))
    return np.array([outcome for outcome in found if outcome is not None])


def in_turn(spans: Mapping[str, tuple[int, int]], /) -> list[str]:
    """The names of clusters in an order that their sizes do not decide, from their first and last rows.

    Where they come one after the other that is their order. Where they are mixed, large ones begin early: then it is
    that of digests of the names.
    """
    order = sorted(spans, key=lambda name: spans[name][0])
    if all(spans[one][1] < spans[other][0] for one, other in pairwise(order)):
        return order
    return sorted(spans, key=lambda name: blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest())

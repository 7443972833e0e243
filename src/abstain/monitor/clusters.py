"""Rows with the same id as one outcome each, for monitors that count clusters."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.monitor.monitor import Monitor
from abstain.monitor.row import Cluster
from abstain.thresholds.sample import check_names


def outcomes(monitor: Monitor, values: ArrayLike, ids: ArrayLike | None, /) -> NDArray[np.float64]:
    """What a monitor counts of rows: each value but NaN, or one for each cluster in the order of their first rows."""
    each = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if not monitor.clustered:
        return each[~np.isnan(each)]
    if ids is None:
        raise ValueError("`ids` must name the cluster of each row, as calibration had clusters, got none.")
    names = check_names("ids", ids)
    if names.shape != each.shape:
        raise ValueError(f"`ids` must have shape {each.shape}, one per row, got {names.shape}.")
    distinct, first, number = np.unique(names, return_index=True, return_inverse=True)
    order = np.argsort(number, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(number, minlength=len(distinct)))[:-1]) if len(each) else []
    found = []
    for place in np.argsort(first):
        inside = each[rows[place]]
        if counted := tuple(inside[~np.isnan(inside)].tolist()):
            found.append(monitor.outcome(Cluster(str(distinct[place]), len(inside), counted)))
    return np.array(found)

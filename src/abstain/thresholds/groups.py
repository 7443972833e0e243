"""A threshold for each group, good for any mix of the groups."""

import numpy as np
from numpy.typing import ArrayLike

from abstain.thresholds.fixed_sequence import fixed_sequence
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold


def group_thresholds(
    confidence: ArrayLike,
    losses: ArrayLike,
    groups: ArrayLike,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> dict[str, Threshold]:
    """A threshold by name of the group, all certified together with probability 1 − δ.

    Each is tested at δ over the number of groups. As the risk of a mix is a mean of the risks of its parts, it is at
    most ``risk`` in every mix of the groups. One row of each cluster of ``ids`` in a group is used. A group without a
    safe threshold is an error that names it.
    """
    c, e, names = np.asarray(confidence), np.asarray(losses), np.asarray(groups)
    if not c.shape == e.shape == names.shape:
        raise ValueError(f"`groups` must name a group for each sample, got {names.shape} for {c.shape}.")
    clusters = None if ids is None else np.asarray(ids)
    if clusters is not None and clusters.shape != c.shape:
        raise ValueError(f"`ids` must have shape {c.shape}, one a sample, got {clusters.shape}.")
    found = {}
    distinct = np.unique(names)
    for name in distinct:
        rows = names == name
        try:
            found[str(name)] = fixed_sequence(
                c[rows],
                e[rows],
                risk=risk,
                delta=delta / len(distinct),
                ids=None if clusters is None else clusters[rows],
                seed=seed,
            )
        except NoSafeThresholdError as error:
            raise NoSafeThresholdError(f"Group {str(name)!r}: {error}") from None
    return found

"""The default for a target risk, by what is known of the rows."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from abstain.thresholds.betting_sequence import betting
from abstain.thresholds.sample import check_largest, cluster_numbers, clusters_like
from abstain.thresholds.step_down import step_down
from abstain.thresholds.threshold import Threshold


def target_risk(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    largest: int | None = None,
    seed: int = 0,
) -> Threshold:
    """The threshold with selective risk at most ``risk`` in the distribution of rows, with probability 1 − δ.

    Without ``ids`` rows are independent, and `step_down` is the rule. With ``ids``, which name clusters, the guarantee
    is about clusters of at most ``largest`` rows, by default as many as the largest here has: by `betting`, or by
    `step_down` where that is a single row.
    """
    if ids is None:
        if largest is not None:
            raise ValueError(f"`largest` must come with `ids`, which say what a cluster is, got {largest} without.")
        return step_down(confidence, losses, risk=risk, delta=delta, seed=seed)
    if largest is not None:
        check_largest("largest", largest)
    clusters = cluster_numbers(ids, np.size(confidence))
    if max(largest or 1, int(np.bincount(clusters).max(initial=1))) > 1:
        return betting(confidence, losses, risk=risk, delta=delta, ids=clusters, largest=largest, seed=seed)
    found = step_down(confidence, losses, risk=risk, delta=delta, seed=seed)
    return replace(found, promise=replace(found.promise, distribution=clusters_like(len(clusters), 1), largest=1))

"""The best of the sample's own ranks, fixed beforehand, each at its share of δ."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.thresholds.binomial import p_value
from abstain.thresholds.risk import certified, nothing_certified
from abstain.thresholds.sample import Sample, check_chance, check_target
from abstain.thresholds.threshold import Threshold


def bonferroni(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    points: int = 64,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The lowest threshold certified among ``points`` ranks fixed beforehand, each tested at δ / points.

    P(selective risk ≤ ``risk``) ≥ 1 − δ by the lemma of `step_down` and the union bound. It has no use of its own but
    to compare with: `step_down` certifies more. Of each cluster of ``ids`` one row, drawn by ``seed``, is used.
    """
    check_target("risk", risk)
    check_chance("delta", delta)
    if points < 1:
        raise ValueError(f"`points` must be at least 1, got {points}.")
    sample = Sample.of(confidence, losses, ids=ids, seed=seed)
    ends = sample.ends

    def largest(trial: float, level: float) -> int:
        found = len(sample), ends, sample.totals[ends - 1], points, trial, level / points
        return largest_rank(*found, are_errors=sample.are_errors)

    rank = largest(risk, delta)
    if not rank:
        raise nothing_certified(sample, largest, risk, delta)
    return certified("bonferroni", sample, rank, risk=risk, delta=delta)


def largest_rank(
    n: int, ends: NDArray[Any], totals: NDArray[Any], points: int, risk: float, level: float, /, *, are_errors: bool
) -> int:
    """The largest number of rows, of the ``ends`` with their ``totals`` that a threshold can accept, that is certified.

    Its errors must be few as if among the fixed rank before it, of which there are ``points``; 0 if none is certified.
    """
    fixed = np.unique(np.linspace(0, n, points + 1).astype(np.int64)[1:])
    place = np.searchsorted(fixed, ends, side="right") - 1
    for end, total, at in zip(ends[::-1].tolist(), totals[::-1].tolist(), place[::-1].tolist(), strict=True):
        k = int(fixed[at])
        if at >= 0 and total <= k and p_value(total, k, risk, are_errors=are_errors) <= level:
            return int(end)
    return 0

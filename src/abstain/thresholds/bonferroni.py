"""The best of the sample's own ranks, fixed beforehand, each at its share of δ."""

import numpy as np
from numpy.typing import ArrayLike

from abstain.thresholds.binomial import p_value
from abstain.thresholds.risk import certified, nothing_certified
from abstain.thresholds.sample import Sample, check_target
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
    check_target("delta", delta)
    if points < 1:
        raise ValueError(f"`points` must be at least 1, got {points}.")
    sample = Sample.of(confidence, losses, ids=ids, seed=seed)
    rank = _largest(sample, points, risk, delta / points)
    if not rank:
        reaches = lambda trial: _largest(sample, points, trial, delta / points) > 0  # noqa: E731
        raise nothing_certified(sample, reaches, risk, delta)
    return certified("bonferroni", sample, rank, risk=risk, delta=delta)


def _largest(sample: Sample, points: int, risk: float, level: float) -> int:
    """The largest rank that a threshold can accept and whose errors, as if among the fixed rank before it, are few."""
    fixed = np.unique(np.linspace(0, len(sample), points + 1).astype(np.int64)[1:])
    ends, totals = sample.ends, sample.totals
    place = np.searchsorted(fixed, ends, side="right") - 1
    for end, at in zip(ends[::-1], place[::-1], strict=True):
        k, total = int(fixed[at]), float(totals[end - 1])
        if at >= 0 and total <= k and p_value(total, k, risk, are_errors=sample.are_errors) <= level:
            return int(end)
    return 0

"""The best of thresholds at fixed ranks of the calibration sample itself, each at its share of δ."""

import numpy as np
from numpy.typing import ArrayLike

from abstain.thresholds.calibration import calibration_of, check_target
from abstain.thresholds.risk import certified, nothing_certified
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

    P(selective risk ≤ ``risk``) ≥ 1 − δ. No split is needed: take γ as the confidence of rank k + 1; given γ, the k
    samples above it are independent draws from the law of accepted samples, so their errors are exactly binomial with
    the risk at γ. This holds for each of the ranks, and the union bound for all. A tie at γ only makes the k fewer.
    """
    check_target("risk", risk)
    check_target("delta", delta)
    if points < 1:
        raise ValueError(f"`points` must be at least 1, got {points}.")
    sample = calibration_of(confidence, losses, ids=ids, seed=seed)
    ranks = np.unique(np.linspace(0, len(sample) - 1, points + 1).astype(int)[1:])
    passed = [
        float(sample.confidence[rank])
        for rank in ranks
        if sample.p_value(float(sample.confidence[rank]), risk) <= delta / points
    ]
    if not passed:
        raise nothing_certified(sample, risk=risk, delta=delta)
    return certified("bonferroni", sample, min(passed), risk=risk, delta=delta)

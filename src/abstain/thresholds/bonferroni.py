"""The best of thresholds at fixed ranks of the calibration sample itself, each at its share of δ."""

import numpy as np
from numpy.typing import ArrayLike

from abstain.thresholds.binomial import upper_bound
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
    the risk at γ. This holds for each of the ranks, and the union bound for all. A tie at γ only makes the k fewer. The
    last rank is that of all samples, γ = −inf.
    """
    check_target("risk", risk)
    check_target("delta", delta)
    if points < 1:
        raise ValueError(f"`points` must be at least 1, got {points}.")
    sample = calibration_of(confidence, losses, ids=ids, seed=seed)
    ranks = np.unique(np.linspace(0, len(sample), points + 1).astype(int)[1:])
    thresholds = [float(value) for value in np.append(sample.confidence, -np.inf)[ranks]]

    def lowest(target: float) -> float:
        return min((value for value in thresholds if sample.p_value(value, target) <= delta / points), default=np.inf)

    value = lowest(risk)
    if value == np.inf:
        raise nothing_certified(sample, lowest, risk=risk, delta=delta)
    accepted, total = sample.counts(value)
    bound = upper_bound(int(total), accepted, delta / points) if sample.are_errors else None
    return certified("bonferroni", sample, value, risk=risk, delta=delta, bound=bound)

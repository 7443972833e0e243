"""Selection with guaranteed risk, by bisection."""

from dataclasses import replace
from math import ceil, inf, log2

import numpy as np
from numpy.typing import ArrayLike

from abstain.thresholds.binomial import upper_bound
from abstain.thresholds.calibration import Calibration, calibration_of, check_target
from abstain.thresholds.risk import certified, nothing_certified
from abstain.thresholds.threshold import Threshold

GAP = "by a published proof that takes the thresholds visited for fixed"


def sgr(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """Bisection over ranks with a Clopper–Pearson bound at δ/⌈log₂ n⌉ in each step.

    For comparison with the literature (Geifman & El-Yaniv, 2017); its proof takes the thresholds it visits for fixed,
    though they depend on the sample. Whole counts are used, and only a threshold that passed is returned. Errors of 0
    and 1 only.
    """
    check_target("risk", risk)
    check_target("delta", delta)
    sample = calibration_of(confidence, losses, ids=ids, seed=seed)
    if not sample.are_errors:
        raise ValueError("`losses` must be 0 or 1 for sgr, got others. Use fixed_sequence.")
    best, bound = _bisect(sample, risk, delta)
    if best == inf:
        raise nothing_certified(sample, lambda trial: _bisect(sample, trial, delta)[0], risk=risk, delta=delta)
    found = certified("sgr", sample, best, risk=risk, delta=delta, bound=bound)
    return replace(found, guarantee=f"{GAP}, {found.guarantee}")


def _bisect(sample: Calibration, risk: float, delta: float) -> tuple[float, float]:
    """The lowest threshold that passed, +inf if none did, and its bound."""
    n = len(sample)
    steps = max(1, ceil(log2(n)))
    low, high, best, best_bound = 0, n, inf, 1.0
    for _ in range(steps):
        middle = (low + high + 1) // 2
        value = float(np.nextafter(sample.confidence[middle - 1], -inf)) if middle else inf
        accepted, errors = sample.counts(value)
        bound = upper_bound(int(errors), accepted, delta / steps) if accepted else 1.0
        if bound <= risk:
            low = middle
            if value < best:
                best, best_bound = value, bound
        else:
            high = max(low, middle - 1)
    return best, best_bound

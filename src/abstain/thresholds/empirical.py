"""The rule without a promise, to compare with."""

import numpy as np
from numpy.typing import ArrayLike

from abstain.metrics import risk_coverage
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold


def empirical_without_guarantee(confidence: ArrayLike, losses: ArrayLike, /, *, risk: float) -> Threshold:
    """The lowest threshold whose risk on the calibration sample is at most ``risk``; on new samples it is often above.

    In simulations at n = 2,000 it breaks its target in about half of the runs.
    """
    curve = risk_coverage(confidence, losses)
    safe = np.flatnonzero(curve.risk <= risk)
    if not safe.size:
        raise NoSafeThresholdError(f"No threshold has risk <= {risk:.4g} even on the calibration sample.")
    n = len(np.asarray(losses))
    accepted = round(float(curve.coverage[safe[-1]]) * n)
    observed = float(curve.risk[safe[-1]])
    return Threshold(
        float(curve.threshold[safe[-1]]),
        "empirical_without_guarantee",
        risk,
        None,
        n,
        accepted,
        observed * accepted,
        1.0,
        "nothing is promised: this is the risk seen on the calibration sample.",
    )

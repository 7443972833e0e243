"""The rule without a promise, to compare with."""

import numpy as np
from numpy.typing import ArrayLike

from abstain.thresholds.promise import RISK, Promise
from abstain.thresholds.sample import Sample, check_target
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold


def empirical_without_guarantee(confidence: ArrayLike, losses: ArrayLike, /, *, risk: float) -> Threshold:
    """The lowest threshold whose risk on the calibration sample is at most ``risk``; on new samples it is often above.

    About half of the time it breaks the target, and nearly always where the risk is flat: it is here to be compared
    with, and named for what it is.
    """
    check_target("risk", risk)
    sample = Sample.of(confidence, losses)
    ends, totals = sample.ends, sample.totals
    safe = ends[totals[ends - 1] <= risk * ends]
    if not len(safe):
        lowest = float(np.min(totals[ends - 1] / ends)) if len(ends) else 1.0
        raise NoSafeThresholdError(
            f"No threshold has risk <= {risk:.4g} even on the calibration sample; {lowest:.4g} is the lowest."
        )
    rank = int(safe[-1])
    promise = Promise(
        quantity=RISK,
        target=risk,
        bound=float(totals[rank - 1] / rank),
        probability=None,
        distribution=sample.distribution,
        counting=sample.counting,
        caveats=("since the threshold was fitted to the sample with no allowance for chance",),
        proved=False,
    )
    return Threshold(
        value=sample.below(rank),
        method="empirical_without_guarantee",
        n=len(sample),
        accepted=rank,
        errors=float(totals[rank - 1]),
        promise=promise,
    )

"""What thresholds for a target selective risk have in common: the words, and the way out where there is none."""

import numpy as np

from abstain.thresholds.binomial import samples_needed, upper_bound
from abstain.thresholds.calibration import Calibration
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold


def certified(
    method: str, calibration: Calibration, value: float, /, *, risk: float, delta: float, bound: float | None = None
) -> Threshold:
    """A threshold whose selective risk is at most ``risk`` with probability 1 − δ."""
    accepted, total = calibration.counts(value)
    if bound is None:
        bound = min(risk, upper_bound(int(total), accepted, delta)) if calibration.are_errors else risk
    guarantee = (
        f"the share of errors among accepted samples is at most {risk:.4g}, with probability {1 - delta:.4g} over the "
        f"calibration sample, for samples drawn as these {len(calibration)} were."
    )
    return Threshold(value, method, risk, delta, len(calibration), accepted, total, bound, guarantee)


def nothing_certified(calibration: Calibration, /, *, risk: float, delta: float) -> NoSafeThresholdError:
    """The error that says how many samples, or what risk, would do."""
    n = len(calibration)
    reached = min(
        (upper_bound(int(np.ceil(calibration.losses[:k].sum())), k, delta) for k in _some_ranks(n)), default=1.0
    )
    return NoSafeThresholdError(
        f"No threshold certifies risk <= {risk:.4g} with confidence {1 - delta:.4g} on n={n} calibration samples. "
        f"At least {samples_needed(risk, delta)} accepted samples without an error are needed; on this sample a risk "
        f"of about {reached:.2g} is in reach. Raise `risk` or `delta`, or calibrate on more samples."
    )


def _some_ranks(n: int) -> list[int]:
    return sorted({max(1, int(n * share)) for share in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)})

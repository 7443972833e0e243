"""What thresholds for a target selective risk have in common: the words, and the way out where there is none."""

from collections.abc import Callable

import numpy as np

from abstain.thresholds.binomial import samples_needed
from abstain.thresholds.calibration import Calibration
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold


def certified(
    method: str, calibration: Calibration, value: float, /, *, risk: float, delta: float, bound: float | None = None
) -> Threshold:
    """A threshold whose selective risk is at most ``risk``, or a lower ``bound`` proved, with probability 1 − δ."""
    accepted, total = calibration.counts(value)
    bound = risk if bound is None else bound  # γ was chosen on this sample: a bound for it alone would not hold
    guarantee = (
        f"the share of errors among accepted samples is at most {risk:.4g}, with probability {1 - delta:.4g} over the "
        f"calibration sample, for samples drawn as these {len(calibration)} were."
    )
    return Threshold(value, method, risk, delta, len(calibration), accepted, total, bound, guarantee)


def nothing_certified(
    calibration: Calibration, rule: Callable[[float], float], /, *, risk: float, delta: float
) -> NoSafeThresholdError:
    """The error that says how many samples, or what risk, would do; ``rule`` gives γ for a risk, +inf for none."""
    larger = risk * 1.1 ** np.arange(1, 100)
    reached = next((trial for trial in larger[larger < 1] if rule(float(trial)) < np.inf), None)
    instead = "no risk below 1 is in reach" if reached is None else f"a risk of {reached:.2g} is in reach"
    return NoSafeThresholdError(
        f"No threshold certifies risk <= {risk:.4g} with confidence {1 - delta:.4g} on n={len(calibration)} "
        f"calibration samples. At least {samples_needed(risk, delta)} accepted samples without an error are needed; on "
        f"this sample {instead}. Raise `risk` or `delta`, or calibrate on more samples."
    )

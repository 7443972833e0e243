"""What thresholds for a target selective risk have in common: the words, and the way out where there is none."""

from collections.abc import Callable
from math import ceil, floor, log10

import numpy as np

from abstain.thresholds.binomial import samples_needed
from abstain.thresholds.calibration import Calibration
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold

DRAWN_AS = "for samples drawn as these {} were"


def certified(
    method: str, calibration: Calibration, value: float, /, *, risk: float, delta: float, bound: float | None = None
) -> Threshold:
    """A threshold whose selective risk is at most ``risk``, or a lower ``bound`` proved, with probability 1 − δ."""
    accepted, total = calibration.counts(value)
    bound = risk if bound is None else bound  # γ was chosen on this sample: a bound for it alone would not hold
    guarantee = (
        f"the share of errors among accepted samples is at most {risk:.4g}, with probability {1 - delta:.4g} over the "
        f"calibration sample, {DRAWN_AS.format(len(calibration))}."
    )
    return Threshold(value, method, risk, delta, len(calibration), accepted, total, bound, guarantee)


def nothing_certified(
    calibration: Calibration, rule: Callable[[float], float], /, *, risk: float, delta: float
) -> NoSafeThresholdError:
    """The error that says how many samples, or what risk, would do; ``rule`` gives γ for a risk, +inf for none."""
    larger = (_two_digits(risk * 1.1**step) for step in range(1, 200))
    reached = next((trial for trial in larger if risk < trial < 1 and rule(trial) < np.inf), None)
    instead = "no risk below 1 is in reach" if reached is None else f"a risk of {reached:.2g} is in reach"
    return NoSafeThresholdError(
        f"No threshold certifies risk <= {risk:.4g} with confidence {1 - delta:.4g} on n={len(calibration)} "
        f"calibration samples. At least {samples_needed(risk, delta)} accepted samples without an error are needed; on "
        f"this sample {instead}. Raise `risk` or `delta`, or calibrate on more samples."
    )


def _two_digits(value: float) -> float:
    """Rounded up to two significant digits, as it is printed."""
    unit = 10.0 ** (floor(log10(value)) - 1)
    return float(f"{ceil(value / unit - 1e-9) * unit:.2g}")

"""What thresholds for a target selective risk have in common: the promise, and the way out where there is none."""

from bisect import bisect_left
from collections.abc import Callable
from functools import cache
from math import ceil, floor, log, log10

import numpy as np
from scipy.special import betaincinv

from abstain.thresholds.binomial import samples_needed
from abstain.thresholds.promise import RISK, Promise
from abstain.thresholds.sample import Sample
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold

FACTOR = 1.05


def certified(
    method: str, sample: Sample, rank: int, /, *, risk: float, delta: float, bound: float | None = None
) -> Threshold:
    """The threshold that accepts the ``rank`` most trusted rows, with risk at most ``risk``, or a lower ``bound``."""
    return Threshold(
        value=sample.below(rank),
        method=method,
        n=len(sample),
        accepted=rank,
        errors=float(sample.losses[:rank].sum()),
        promise=Promise(
            quantity=RISK,
            target=risk,
            bound=bound,
            probability=1 - delta,
            distribution=sample.distribution,
            counting=sample.counting,
        ),
    )


def nothing_certified(
    sample: Sample, reaches: Callable[[float], bool], risk: float, delta: float, /
) -> NoSafeThresholdError:
    """The error that says how many rows would do, or what risk; ``reaches`` tells whether a risk can be certified."""

    @cache
    def reach() -> float | None:
        return lowest_in_reach(reaches, risk, guess=_guess(sample, delta))

    def message() -> str:
        words = reach_words(reach())
        return (
            f"No threshold certifies risk <= {risk:.4g} with confidence {1 - delta:.4g} on n={len(sample)} calibration "
            f"samples. At least {samples_needed(risk, delta)} accepted samples without an error are needed; on this "
            f"sample {words}. Raise `risk` or `delta`, or calibrate on more samples."
        )

    return NoSafeThresholdError(message, in_reach=reach)


def reach_words(found: float | None, /) -> str:
    """The words for what `lowest_in_reach` found."""
    return "no risk below 1 is in reach" if found is None else f"a risk of {found:.2g} is in reach"


def lowest_in_reach(reaches: Callable[[float], bool], risk: float, /, *, guess: float | None = None) -> float | None:
    """About the lowest risk above ``risk`` that is in reach, from a guess on, by bisection; None for none below 1."""
    trials = [_two_digits(risk * FACTOR**step) for step in range(1, ceil(log(1 / risk) / log(FACTOR)))]
    trials = sorted({trial for trial in trials if risk < trial < 1} | {0.99})
    start = bisect_left(trials, min(guess or 0.0, 0.99))
    low, high = start - 1, start  # below the guess nothing is looked for
    step = 1
    while not reaches(trials[high]):
        if high == len(trials) - 1:
            return None
        low, high, step = high, min(high + step, len(trials) - 1), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(trials[middle]) else (middle, high)
    return trials[high]


def _guess(sample: Sample, delta: float) -> float | None:
    """The lowest upper bound on the risk at any rank that could be tested, as if it had been the only one."""
    if not sample.are_errors or not len(sample.ends):
        return None
    ends = sample.ends
    errors = sample.totals[ends - 1]
    with np.errstate(invalid="ignore"):
        bounds = np.where(errors < ends, betaincinv(errors + 1, np.maximum(ends - errors, 1e-9), 1 - 0.5 * delta), 1.0)
    return float(np.min(bounds[ends >= 0.01 * len(sample)], initial=1.0))


def _two_digits(value: float) -> float:
    """Rounded up to two significant digits, as it is printed."""
    unit = 10.0 ** (floor(log10(value)) - 1)
    return float(f"{ceil(value / unit - 1e-9) * unit:.2g}")

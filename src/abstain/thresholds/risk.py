"""What thresholds for a target selective risk have in common: the promise, and the way out where there is none."""

from bisect import bisect_left
from collections.abc import Callable
from functools import cache
from math import floor, log10

import numpy as np
from scipy.special import betaincinv

from abstain.thresholds.binomial import samples_needed
from abstain.thresholds.promise import RISK, Promise
from abstain.thresholds.sample import Sample
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold

RISKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)  # those that people ask for
DELTAS = (0.1, 0.2)
SHOWN = 3


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
    sample: Sample, accepted: Callable[[float, float], int], risk: float, delta: float, /
) -> NoSafeThresholdError:
    """The error that says how many rows would do, or what risk; ``accepted`` rows are certified for a risk and a δ."""

    @cache
    def reach() -> float | None:
        return lowest_in_reach(lambda trial: accepted(trial, delta) > 0, risk, guess=_guess(sample, delta))

    def message() -> str:
        return (
            f"No threshold certifies risk <= {risk:.4g} with confidence {1 - delta:.4g} on n={len(sample)} calibration "
            "samples, which are the labelled rows that certify, none that fits or chooses a score. At least "
            f"{samples_needed(risk, delta):,} accepted samples without an error are needed; on this sample "
            f"{reach_words(reach())}{_pairs(reach(), len(sample), accepted, risk, delta)}. Raise `risk` or `delta`, or "
            f"calibrate on more samples: `abstain plan --risk {risk:.4g} --delta {delta:.4g}` tells how many, and "
            "`abstain.thresholds.trade_off` what coverage each risk has."
        )

    return NoSafeThresholdError(message, in_reach=reach)


def _pairs(reach: float | None, n: int, accepted: Callable[[float, float], int], risk: float, delta: float) -> str:
    """What the rule itself says of other targets: risks with their coverage, and the risk asked for at a larger δ."""
    words = ""
    if reach is not None:
        higher = [trial for trial in RISKS if trial > reach][: SHOWN - 1]
        found = {trial: accepted(trial, delta) / n for trial in (reach, *higher)}
        listed = [f"{trial:.2g} at {share:.1%}" for trial, share in found.items() if share]
        words = f" (risks and their coverage: {', '.join(listed)})"
    larger = next((trial for trial in DELTAS if trial > delta and accepted(risk, trial)), None)
    return words if larger is None else f"{words}, and {risk:.4g} with delta={larger:g}"


def reach_words(found: float | None, /) -> str:
    """The words for what `lowest_in_reach` found."""
    return "no risk below 1 is in reach" if found is None else f"a risk of {found:.2g} is in reach"


def lowest_in_reach(reaches: Callable[[float], bool], risk: float, /, *, guess: float | None = None) -> float | None:
    """About the lowest risk above ``risk`` that is in reach, from a guess on, by bisection; None for none below 1.

    It has two digits, as it is printed, and was tried: asked for, it is certified.
    """
    trials = [trial for trial in _two_digits(risk) if risk < trial]
    if not trials:
        return None
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


def _two_digits(risk: float) -> list[float]:
    """All numbers of two significant digits from the decade of ``risk`` on, up to 0.99, ascending."""
    decades = range(floor(log10(risk)) - 1, -1)
    return [float(f"{digits}e{decade}") for decade in decades for digits in range(10, 100)]

"""What thresholds for a target selective risk have in common: the promise, and the error where there is none."""

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from scipy.special import bdtrc, betaincinv

from abstain.thresholds.achievable import ELSEWHERE, Achievable, achievable_words, lowest_in_reach
from abstain.thresholds.binomial import samples_needed
from abstain.thresholds.promise import RISK, Promise
from abstain.thresholds.sample import Sample
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold

RISKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)  # those that people ask for
DELTAS = (0.1, 0.2)
SHOWN = 3
ENOUGH = 0.1  # of the rows: what is accepted at lower coverages is too little to look at


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
    """The error that says what is achievable and what to do; ``accepted`` rows are certified for a risk and a δ."""

    @cache
    def reach() -> float | None:
        return lowest_in_reach(lambda trial: accepted(trial, delta) > 0, risk, guess=_guess(sample, delta))

    @cache
    def achievable() -> tuple[Achievable, ...]:
        return tuple(_targets(reach(), len(sample), accepted, risk, delta))

    def message() -> str:
        return (
            f"No threshold certifies risk <= {risk:.4g} with probability {1 - delta:.4g} on n={len(sample):,} "
            f"calibration rows. {achievable_words(achievable(), delta)} {_advice(sample, risk, delta)}"
        )

    return NoSafeThresholdError(message, in_reach=reach, achievable=achievable)


def _targets(
    reach: float | None, n: int, accepted: Callable[[float, float], int], risk: float, delta: float
) -> Iterator[Achievable]:
    """Targets that the rule itself certifies: the lowest risk and the next usual ones; the risk at a larger δ."""
    if reach is not None:
        for trial in (reach, *[usual for usual in RISKS if usual > reach][: SHOWN - 1]):
            if rank := accepted(trial, delta):
                yield Achievable(trial, delta, rank / n)
            if rank == n:
                break
    for larger in DELTAS:
        if larger > delta and (rank := accepted(risk, larger)):
            yield Achievable(risk, larger, rank / n)
            return


def _advice(sample: Sample, risk: float, delta: float) -> str:
    """What to do: label more rows, unless every coverage with enough of them has too many errors for chance."""
    needed = samples_needed(risk, delta)
    if (lowest := _lowest_observed(sample, risk, delta)) is not None:
        seen = f"accepting {ENOUGH:.0%} of the rows or more has a risk of at least {lowest:.2g} here"
        return f"More rows hardly help, as {seen}: improve the score, or {ELSEWHERE}."
    more = "Label more rows"
    if len(sample) < needed:
        more += f", at least {needed:,} that are accepted without an error"
    return f"{more} (`abstain plan --risk {risk:.4g} --delta {delta:.4g}`), or {ELSEWHERE}."


def _lowest_observed(sample: Sample, risk: float, delta: float) -> float | None:
    """The lowest risk at any coverage with enough rows, if all are significantly above the target; None otherwise."""
    ends = sample.ends[sample.ends >= ENOUGH * len(sample)]
    if not sample.are_errors or not len(ends):
        return None
    errors = sample.totals[ends - 1]
    if (bdtrc(errors - 1, ends, risk) > delta).any():
        return None
    return float(np.min(errors / ends))


def _guess(sample: Sample, delta: float) -> float | None:
    """The lowest upper bound on the risk at any rank that could be tested, as if it had been the only one."""
    if not sample.are_errors or not len(sample.ends):
        return None
    ends = sample.ends
    errors = sample.totals[ends - 1]
    with np.errstate(invalid="ignore"):
        bounds = np.where(errors < ends, betaincinv(errors + 1, np.maximum(ends - errors, 1e-9), 1 - 0.5 * delta), 1.0)
    return float(np.min(bounds[ends >= 0.01 * len(sample)], initial=1.0))

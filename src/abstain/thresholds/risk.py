"""What thresholds for a target selective risk have in common: the guarantee, the error, and rejecting all."""

from collections.abc import Callable, Iterator
from math import inf

import numpy as np
from scipy.special import bdtrc, betaincinv

from abstain.thresholds.binomial import samples_needed
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.refusal import ELSEWHERE, Achievable, NoSafeThresholdError, lowest_achievable
from abstain.thresholds.sample import RankedSample, accepting
from abstain.thresholds.threshold import Threshold

RISKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)  # those that people ask for
DELTAS = (0.1, 0.2)
SHOWN = 3
ENOUGH = 0.1  # of the rows: what is accepted at lower coverages is too little to look at


def certified(
    method: str, sample: RankedSample, rank: int, /, *, risk: float, delta: float | None, bound: float | None = None
) -> Threshold:
    """The threshold that accepts the ``rank`` most trusted rows, with risk at most ``risk``, or a lower ``bound``."""
    guarantee = Guarantee(
        quantity=Quantity.RISK if sample.are_errors else Quantity.LOSS,
        target=risk,
        bound=bound,
        probability=None if delta is None else 1 - delta,
        **sample.population,
    )
    return accepting(method, sample, rank, guarantee)


def nothing_certified(
    sample: RankedSample, accepted: Callable[[float, float], int], risk: float, delta: float, /
) -> NoSafeThresholdError:
    """The error where no threshold is certified; ``accepted`` is how many rows are for a risk and a δ."""

    def search() -> tuple[Achievable, ...]:
        lowest = lowest_achievable(lambda trial: accepted(trial, delta) > 0, risk, guess=_guess(sample, delta))
        return tuple(_targets(lowest, len(sample), accepted, risk, delta))

    return NoSafeThresholdError(
        f"No threshold certifies risk <= {risk:.4g} with probability {1 - delta:.4g} on n={len(sample):,} calibration "
        "rows.",
        advice=_advice(sample, risk, delta),
        delta=delta,
        search=search,
    )


def reject_all(n: int, /, *, risk: float, delta: float) -> Threshold:
    """The threshold that accepts nothing, and so keeps any risk, where ``n`` rows certify none."""
    guarantee = Guarantee(
        quantity=Quantity.RISK,
        target=risk,
        probability=1 - delta,
        distribution="any rows, as none is accepted",
        caveats=("no threshold could be certified for it, so that every row is rejected",),
    )
    return Threshold(value=inf, method="reject_all", n=n, accepted=0, errors=0.0, guarantee=guarantee)


def _targets(
    lowest: float | None, n: int, accepted: Callable[[float, float], int], risk: float, delta: float
) -> Iterator[Achievable]:
    """Targets that the rule itself certifies: the lowest risk and the next usual ones; the risk at a larger δ."""
    if lowest is not None:
        for trial in (lowest, *[usual for usual in RISKS if usual > lowest][: SHOWN - 1]):
            if rank := accepted(trial, delta):
                yield Achievable(trial, delta, rank / n)
            if rank == n:
                break
    for larger in DELTAS:
        if larger > delta and (rank := accepted(risk, larger)):
            yield Achievable(risk, larger, rank / n)
            return


def _advice(sample: RankedSample, risk: float, delta: float) -> str:
    """What to do: label more rows, unless every coverage with enough of them has too many errors for chance."""
    needed = samples_needed(risk, delta)
    if (lowest := _lowest_observed(sample, risk, delta)) is not None:
        observed = f"accepting {ENOUGH:.0%} of the rows or more has a risk of at least {lowest:.2g} here"
        return f"More rows hardly help, as {observed}: improve the score, or {ELSEWHERE}."
    more = "Label more rows"
    if len(sample) < needed:
        without = "an error" if sample.are_errors else "a loss"
        more += f", at least {needed:,} that are accepted without {without}"
    return f"{more} (`abstain plan --risk {risk:.4g} --delta {delta:.4g}`), or {ELSEWHERE}."


def _lowest_observed(sample: RankedSample, risk: float, delta: float) -> float | None:
    """The lowest risk at any coverage with enough rows, if all are significantly above the target; None otherwise."""
    enough = sample.ends >= ENOUGH * len(sample)
    ends, errors = sample.ends[enough], sample.totals_at_ends[enough]
    if not sample.are_errors or not len(ends) or (bdtrc(errors - 1, ends, risk) > delta).any():
        return None
    return float(np.min(errors / ends))


def _guess(sample: RankedSample, delta: float) -> float | None:
    """The lowest upper bound on the risk at any rank that could be tested, as if it had been the only one."""
    ends, errors = sample.ends, sample.totals_at_ends
    if not sample.are_errors or not len(ends):
        return None
    with np.errstate(invalid="ignore"):
        bounds = np.where(errors < ends, betaincinv(errors + 1, np.maximum(ends - errors, 1e-9), 1 - 0.5 * delta), 1.0)
    return float(np.min(bounds[ends >= 0.01 * len(sample)], initial=1.0))

"""Rules to compare with: a union bound over fixed ranks, the rule of the literature, and one without a guarantee."""

from dataclasses import replace
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._errors import InvalidInputError
from abstain.thresholds.binomial import p_value, upper_bound
from abstain.thresholds.refusal import NoSafeThresholdError
from abstain.thresholds.risk import certified, nothing_certified
from abstain.thresholds.sample import Sample, check_chance, check_target, range_words
from abstain.thresholds.threshold import Threshold

GAP = "since its published proof takes the thresholds visited for fixed, though they depend on the sample"
FITTED = "since the threshold was fitted to the sample with no allowance for chance"


def bonferroni(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    points: int = 64,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The lowest threshold certified among ``points`` ranks fixed beforehand, each tested at δ / points.

    P(selective risk ≤ ``risk``) ≥ 1 − δ by the lemma of `step_down` and the union bound. It has no use of its own but
    to compare with: `step_down` certifies more. Of each cluster of ``ids`` one row, drawn by ``seed``, is used.
    """
    check_target("risk", risk)
    check_chance("delta", delta)
    if points < 1:
        raise InvalidInputError(f"`points` must be at least 1, got {points}.")
    sample = Sample.of(confidence, losses, ids=ids, seed=seed)
    ends = sample.ends

    def largest(trial: float, level: float) -> int:
        totals = sample.totals[ends - 1]
        return largest_rank(len(sample), ends, totals, points, trial, level / points, are_errors=sample.are_errors)

    rank = largest(risk, delta)
    if not rank:
        raise nothing_certified(sample, largest, risk, delta)
    return certified("bonferroni", sample, rank, risk=risk, delta=delta)


def largest_rank(
    n: int, ends: NDArray[Any], totals: NDArray[Any], points: int, risk: float, level: float, /, *, are_errors: bool
) -> int:
    """The largest number of rows, of the ``ends`` with their ``totals`` that a threshold can accept, that is certified.

    Its errors must be few as if among the fixed rank before it, of which there are ``points``; 0 if none is certified.
    """
    fixed = np.unique(np.linspace(0, n, points + 1).astype(np.int64)[1:])
    index = np.searchsorted(fixed, ends, side="right") - 1
    for end, total, at in zip(ends[::-1].tolist(), totals[::-1].tolist(), index[::-1].tolist(), strict=True):
        k = int(fixed[at])
        if at >= 0 and total <= k and p_value(total, k, risk, are_errors=are_errors) <= level:
            return int(end)
    return 0


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
    and 1 only. Of each cluster of ``ids`` one row, drawn by ``seed``, is used.
    """
    check_target("risk", risk)
    check_chance("delta", delta)
    sample = Sample.of(confidence, losses, ids=ids, seed=seed)
    if not sample.are_errors:
        raise InvalidInputError(f"`losses` must be 0 or 1 for sgr, got {range_words(sample.losses)}. Use step_down.")
    best, bound = _bisect(sample, risk, delta)
    if not best:
        raise nothing_certified(sample, lambda *target: _bisect(sample, *target)[0], risk, delta)
    threshold = certified("sgr", sample, best, risk=risk, delta=delta, bound=bound)
    return replace(threshold, guarantee=threshold.guarantee.unproved(GAP))


def _bisect(sample: Sample, risk: float, delta: float) -> tuple[int, float]:
    """The largest rank that passed, 0 if none did, and its bound. A rank inside a tie stands for the end of the tie."""
    n, ends, totals = len(sample), sample.ends, sample.totals
    steps = max(1, ceil(log2(n)))
    low, high, best, best_bound = 0, n, 0, 1.0
    for _ in range(steps):
        middle = (low + high + 1) // 2
        above = ends[ends >= middle]
        rank = int(above[0]) if len(above) and middle else 0
        bound = upper_bound(int(totals[rank - 1]), rank, delta / steps) if rank else 1.0
        if bound <= risk:
            low = middle
            if rank > best:
                best, best_bound = rank, bound
        else:
            high = max(low, middle - 1)
    return best, best_bound


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
    bound = float(totals[rank - 1] / rank)
    threshold = certified("empirical_without_guarantee", sample, rank, risk=risk, delta=None, bound=bound)
    return replace(threshold, guarantee=threshold.guarantee.unproved(FITTED))

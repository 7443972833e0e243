"""Selection with guaranteed risk, by bisection."""

from dataclasses import replace
from math import ceil, log2

from numpy.typing import ArrayLike

from abstain.thresholds.binomial import upper_bound
from abstain.thresholds.risk import certified, nothing_certified
from abstain.thresholds.sample import Sample, check_chance, check_target
from abstain.thresholds.threshold import Threshold

GAP = "since its published proof takes the thresholds visited for fixed, though they depend on the sample"


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
        raise ValueError("`losses` must be 0 or 1 for sgr, got others. Use step_down.")
    best, bound = _bisect(sample, risk, delta)
    if not best:
        raise nothing_certified(sample, lambda *target: _bisect(sample, *target)[0], risk, delta)
    found = certified("sgr", sample, best, risk=risk, delta=delta, bound=bound)
    return replace(found, promise=found.promise.unproved(GAP))


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

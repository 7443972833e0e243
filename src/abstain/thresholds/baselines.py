"""Rules to compare with: a union bound over fixed ranks, the rule of the literature, and one without a guarantee."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log2

import numpy as np
from numpy.typing import ArrayLike

from abstain._arguments import check_at_least
from abstain._errors import InvalidInputError
from abstain.thresholds.binomial import p_value, upper_bound
from abstain.thresholds.refusal import NoSafeThresholdError
from abstain.thresholds.risk import certified, nothing_certified
from abstain.thresholds.sample import RankedSample, Sample, check_chance, check_target, range_words
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
    """The lowest threshold certified among ranks fixed beforehand, each tested at δ over their number.

    P(selective risk ≤ ``risk``) ≥ 1 − δ, by the union bound. A baseline: `step_down` certifies more.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    risk : float
        The largest selective risk allowed, between 0 and 1.
    delta : float
        The probability with which the guarantee may fail, at most 0.5.
    points : int
        How many ranks are tested.
    ids : (n,) array, optional
        Rows with the same id are one cluster, of which one row is drawn: the guarantee is then about clusters.
    seed : int
        Of the draw of one row from each cluster.

    Returns
    -------
    Threshold
        With its guarantee.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.
    NoSafeThresholdError
        If no threshold can be certified; it lists the targets that can be.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> u = rng.random(2000)
    >>> errors = rng.random(2000) < 0.3 * u**2
    >>> bonferroni(1 - u, errors, risk=0.05).accepted > 500
    True
    """
    check_target("risk", risk)
    check_chance("delta", delta)
    check_at_least("points", points, 1)
    return certified_at_fixed_ranks(Sample.of(confidence, losses, ids=ids, seed=seed), points, risk=risk, delta=delta)


def certified_at_fixed_ranks(sample: RankedSample, points: int, /, *, risk: float, delta: float) -> Threshold:
    """The threshold of `bonferroni` on a sample, which may be one of counts."""

    def largest(trial: float, level: float) -> int:
        return _largest_rank(sample, points, trial, level / points)

    rank = largest(risk, delta)
    if not rank:
        raise nothing_certified(sample, largest, risk, delta)
    return certified("bonferroni", sample, rank, risk=risk, delta=delta)


def _largest_rank(sample: RankedSample, points: int, risk: float, level: float) -> int:
    """The largest number of rows that a threshold can accept and that is certified; 0 if none is.

    Its errors must be few as if among the fixed rank before it, of which there are ``points``.
    """
    fixed = np.unique(np.linspace(0, len(sample), points + 1).astype(np.int64)[1:])
    ends, totals = sample.ends[::-1], sample.totals_at_ends[::-1]
    index = np.searchsorted(fixed, ends, side="right") - 1
    for end, total, at in zip(ends.tolist(), totals.tolist(), index.tolist(), strict=True):
        k = int(fixed[at])
        if at >= 0 and total <= k and p_value(total, k, risk, are_errors=sample.are_errors) <= level:
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
    """Selection with guaranteed risk: bisection over ranks, with a Clopper–Pearson bound at δ/⌈log₂ n⌉ in each step.

    A baseline of the literature. Its proof takes the thresholds it visits for fixed, though they depend on the
    sample: so the guarantee is marked as unproved.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    losses : (n,) array
        Errors (bool, or 0 and 1).
    risk : float
        The largest selective risk allowed, between 0 and 1.
    delta : float
        The probability with which the guarantee may fail, at most 0.5.
    ids : (n,) array, optional
        Rows with the same id are one cluster, of which one row is drawn: the guarantee is then about clusters.
    seed : int
        Of the draw of one row from each cluster.

    Returns
    -------
    Threshold
        With its guarantee.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.
    NoSafeThresholdError
        If no threshold can be certified; it lists the targets that can be.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> u = rng.random(2000)
    >>> errors = rng.random(2000) < 0.3 * u**2
    >>> sgr(1 - u, errors, risk=0.05).guarantee.proved
    False

    References
    ----------
    Geifman and El-Yaniv, "Selective classification for deep neural networks", NeurIPS 2017.
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
    """The lowest threshold whose risk on the calibration sample is at most ``risk``, with no guarantee for new rows.

    A baseline: on new rows it misses the target about half of the time, and nearly always where the risk is flat.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    risk : float
        The largest selective risk allowed, between 0 and 1.

    Returns
    -------
    Threshold
        With its guarantee.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.
    NoSafeThresholdError
        If no threshold has that risk even on the calibration sample.

    Examples
    --------
    >>> empirical_without_guarantee([0.9, 0.8, 0.7, 0.6], [0, 0, 1, 1], risk=0.4).accepted
    3
    """
    check_target("risk", risk)
    sample = Sample.of(confidence, losses)
    ends, totals = sample.ends, sample.totals_at_ends
    safe = ends[totals <= risk * ends]
    if not len(safe):
        lowest = float(np.min(totals / ends, initial=1.0))
        raise NoSafeThresholdError(
            f"No threshold has risk <= {risk:.4g} even on the calibration sample; {lowest:.4g} is the lowest."
        )
    rank = int(safe[-1])
    bound = float(sample.totals[rank - 1] / rank)
    threshold = certified("empirical_without_guarantee", sample, rank, risk=risk, delta=None, bound=bound)
    return replace(threshold, guarantee=threshold.guarantee.unproved(FITTED))

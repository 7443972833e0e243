"""Thresholds straight from a sketch, with the promise that the counts allow."""

from dataclasses import replace

import numpy as np

from abstain.names import check_name
from abstain.sketch.counts import Counts
from abstain.sketch.sample import BinnedSample
from abstain.thresholds.achievable import ELSEWHERE, Achievable, achievable_words, lowest_in_reach
from abstain.thresholds.bonferroni import largest_rank
from abstain.thresholds.coverage import coverage_promise, rank_for_coverage, tied_words, too_few
from abstain.thresholds.methods import METHODS, methods_for
from abstain.thresholds.promise import RISK, Promise
from abstain.thresholds.sample import check_chance, check_target, rows_like
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold

BY_BINS = "bonferroni"  # what needs no rows
MOST = 1 << 22  # rows whose ranks are tested one by one
MANY, FEW = 4096, 64  # ranks tested beyond that, where a union bound costs next to nothing, and below
CLUSTERS = "since rows of the same sample count as if independent (where no id repeats, count with `distinct`)"


def target_risk(counts: Counts, /, *, risk: float, delta: float = 0.05, method: str | None = None) -> Threshold:
    """The threshold between bins with selective risk at most ``risk``, with probability 1 − δ over the rows counted.

    Up to four million rows by `step_down` as for rows, with bins for ties: the same threshold, to the last bit, where
    every bit of the confidence is kept. Beyond, and where the edges of bins were chosen on these rows, by `bonferroni`,
    which looks at whole bins alone. Where several rows may show the same sample there is no proof, and the promise says
    so.
    """
    check_target("risk", risk)
    check_chance("delta", delta)
    sample, by_rows = BinnedSample(counts), counts.n <= MOST and counts.are_fixed
    rules = [name for name in methods_for("risk") if METHODS[name].from_counts] if by_rows else [BY_BINS]
    rule = method or rules[0]
    why = "" if by_rows else f" of more than {MOST:,} rows, or with bins chosen on its rows"
    check_name("method", rule, rules, rule=f"be one of {', '.join(rules)} for a sketch{why}")
    if not by_rows:
        return _told(_by_bins(sample, risk, delta), counts)
    found = METHODS[rule].rule(*sample.rows(), risk=risk, delta=delta)
    return _told(replace(found, value=sample.below(found.accepted)), counts)


def target_coverage(counts: Counts, /, *, coverage: float, delta: float | None = None) -> Threshold:
    """The highest threshold between bins that keeps at least ``coverage``, as `abstain.thresholds.target_coverage`."""
    check_target("coverage", coverage)
    if delta is not None:
        check_chance("delta", delta)
    sample = BinnedSample(counts)
    ends, n = sample.ends, len(sample)
    rank = rank_for_coverage(n, coverage, delta)
    if not (ends >= rank).any():
        raise too_few(n, rank, n - int(ends[-1] if len(ends) else 0), coverage, delta)
    accepted = int(ends[ends >= rank][0])
    promise = coverage_promise(n, rank, coverage, delta, rows_like(n))
    if accepted > rank:
        promise = promise.noting(tied_words(accepted, rank))
    found = Threshold(
        value=sample.below(accepted), method="target_coverage", n=n, accepted=accepted, errors=None, promise=promise
    )
    return _told(found, counts)


def _by_bins(sample: BinnedSample, risk: float, delta: float) -> Threshold:
    n, ends, totals = len(sample), sample.ends, sample.totals
    points = MANY if n > MOST else FEW

    def rank(trial: float) -> int:
        return largest_rank(n, ends, totals, points, trial, delta / points, are_errors=True)

    accepted = rank(risk)
    if not accepted:
        reach = lowest_in_reach(lambda trial: rank(trial) > 0, risk)
        achievable = () if reach is None else (Achievable(reach, delta, rank(reach) / n),)
        raise NoSafeThresholdError(
            f"No threshold between bins certifies risk <= {risk:.4g} with probability {1 - delta:.4g} on n={n:,} "
            f"calibration rows. {achievable_words(achievable, delta)} Count more rows, or {ELSEWHERE}.",
            in_reach=lambda: reach,
            achievable=lambda: achievable,
        )
    return Threshold(
        value=sample.below(accepted),
        method=BY_BINS,
        n=n,
        accepted=accepted,
        errors=float(totals[np.searchsorted(ends, accepted)]),
        promise=Promise(quantity=RISK, target=risk, probability=1 - delta, distribution=rows_like(n)),
    )


def _told(found: Threshold, counts: Counts) -> Threshold:
    """With a plain word where the promise does not hold."""
    return replace(found, promise=found.promise.unproved(CLUSTERS)) if counts.are_clusters else found

"""Thresholds from a sketch, with the guarantee that the counts allow."""

from dataclasses import dataclass, replace
from sys import float_info
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain._kernels.counts import LARGEST
from abstain._names import check_name
from abstain.sketch.counts import BinCounts
from abstain.thresholds.baselines import largest_rank
from abstain.thresholds.coverage import coverage_guarantee, rank_for_coverage, tied_words, too_few
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.methods import METHODS, methods_for
from abstain.thresholds.refusal import ELSEWHERE, Achievable, NoSafeThresholdError, lowest_achievable
from abstain.thresholds.sample import check_chance, check_target, rows_like, what_counts
from abstain.thresholds.threshold import Threshold, between

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BY_BINS = "bonferroni"  # what needs no rows
MOST = 1 << 22  # rows whose ranks are tested one by one
MANY, FEW = 4096, 64  # ranks tested beyond that, where a union bound costs next to nothing, and below
CLUSTERS = "since rows of the same sample count as if independent (if no id repeats, sketch with `distinct`)"


@final
@dataclass(frozen=True)
class BinnedSample:
    """The counts of a sketch as a calibration sample, with bins as ties: a threshold lies between bins."""

    counts: BinCounts

    def __len__(self) -> int:
        return self.counts.n

    @property
    def ends(self) -> Ints:
        """(g,) the numbers of rows that a threshold can accept, ascending."""
        return np.cumsum(self.counts.counts)[self.counts.bins > 0]

    @property
    def totals(self) -> Ints:
        """(g,) the errors among these."""
        return np.cumsum(self.counts.errors)[self.counts.bins > 0]

    def rows(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Confidence and errors of rows with these counts, all of a bin at its lowest confidence."""
        c = self.counts
        pairs = np.stack([c.errors, c.counts - c.errors], axis=1).ravel()
        wrong = np.tile([True, False], len(c.counts))
        return np.repeat(c.used.lowest(c.bins), c.counts), np.repeat(wrong, pairs)

    def below(self, rank: int, /, *, of_rows: float | None = None) -> float:
        """The threshold that accepts exactly the bins of the ``rank`` most trusted rows, halfway to the next.

        Where the threshold ``of_rows`` lies at one side of the gap instead, so does this. Confidences that were rounded
        to float32 are on the side that they were counted on.
        """
        c = self.counts
        last = int(np.searchsorted(np.cumsum(c.counts), rank))
        accepted = c.bins[last : last + 1]
        following = c.bins[last + 1 : last + 2] if last + 1 < len(c.bins) else np.zeros_like(accepted)
        upper, lower = float(c.used.lowest(accepted)[0]), float(c.used.highest(following)[0])
        if of_rows is not None and of_rows != between(upper, float(c.used.lowest(following)[0])):
            if of_rows > lower:
                return of_rows
            upper = float(c.used.lowest(following + 1)[0])
        if upper == np.inf and lower >= LARGEST:
            return float_info.max
        value = between(upper, lower)
        return float(np.nextafter(value, -np.inf)) if lower > -np.inf and np.float32(value) == upper else value


def target_risk(counts: BinCounts, /, *, risk: float, delta: float = 0.05, method: str | None = None) -> Threshold:
    """The threshold between bins with selective risk at most ``risk``, with probability 1 − δ over the rows counted.

    Up to four million rows by `step_down`, with bins as ties: the same threshold as from the rows, to the last bit, if
    all bits of the confidence are kept. Beyond, and if the edges of bins were chosen on these rows, by `bonferroni`,
    which tests whole bins only. If several rows may show the same sample there is no proof, and the
    guarantee notes it.
    """
    check_target("risk", risk)
    check_chance("delta", delta)
    sample, by_rows = BinnedSample(counts), counts.n <= MOST and counts.are_fixed
    rules = [name for name in methods_for("risk") if METHODS[name].from_counts] if by_rows else [BY_BINS]
    rule = method or rules[0]
    why = "" if by_rows else f" of more than {MOST:,} rows, or with bins chosen on its rows"
    check_name("method", rule, rules, rule=f"be one of {', '.join(rules)} for a sketch{why}")
    if not by_rows:
        return _with_caveat(_by_bins(sample, risk, delta), counts)
    threshold = METHODS[rule].rule(*sample.rows(), risk=risk, delta=delta)
    return _with_caveat(replace(threshold, value=sample.below(threshold.accepted, of_rows=threshold.value)), counts)


def target_coverage(counts: BinCounts, /, *, coverage: float, delta: float | None = None) -> Threshold:
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
    guarantee = coverage_guarantee(n, rank, coverage, delta, what_counts(n, None))
    if accepted > rank:
        guarantee = guarantee.noting(tied_words(accepted, rank))
    threshold = Threshold(
        value=sample.below(accepted), method="target_coverage", n=n, accepted=accepted, errors=None, guarantee=guarantee
    )
    return _with_caveat(threshold, counts)


def _by_bins(sample: BinnedSample, risk: float, delta: float) -> Threshold:
    n, ends, totals = len(sample), sample.ends, sample.totals
    points = MANY if n > MOST else FEW

    def rank(trial: float) -> int:
        return largest_rank(n, ends, totals, points, trial, delta / points, are_errors=True)

    accepted = rank(risk)
    if not accepted:

        def search() -> tuple[Achievable, ...]:
            lowest = lowest_achievable(lambda trial: rank(trial) > 0, risk)
            return () if lowest is None else (Achievable(lowest, delta, rank(lowest) / n),)

        raise NoSafeThresholdError(
            f"No threshold between bins certifies risk <= {risk:.4g} with probability {1 - delta:.4g} on n={n:,} "
            "calibration rows.",
            advice=f"Count more rows, or {ELSEWHERE}.",
            delta=delta,
            search=search,
        )
    return Threshold(
        value=sample.below(accepted),
        method=BY_BINS,
        n=n,
        accepted=accepted,
        errors=float(totals[np.searchsorted(ends, accepted)]),
        guarantee=Guarantee(quantity=Quantity.RISK, target=risk, probability=1 - delta, distribution=rows_like(n)),
    )


def _with_caveat(threshold: Threshold, counts: BinCounts) -> Threshold:
    """The threshold, whose guarantee is marked as unproved if rows may repeat."""
    return replace(threshold, guarantee=threshold.guarantee.unproved(CLUSTERS)) if counts.are_clusters else threshold

"""Thresholds from a sketch, with the guarantee that the counts allow."""

from dataclasses import dataclass, replace
from sys import float_info
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats, Ints
from abstain._kernels.counts import LARGEST
from abstain._names import check_name
from abstain.sketch.counts import BinCounts
from abstain.thresholds.baselines import certified_at_fixed_ranks
from abstain.thresholds.coverage import keeping_coverage
from abstain.thresholds.methods import METHODS, methods_for
from abstain.thresholds.sample import SampledFrom, check_chance, check_target, population_of
from abstain.thresholds.threshold import Threshold, between

BY_BINS = "bonferroni"  # what needs no rows
MOST = 1 << 22  # rows whose ranks are tested one by one
MANY, FEW = 4096, 64  # ranks tested beyond that, where a union bound costs next to nothing, and below
CLUSTERS = "since rows of the same sample count as if independent (if no id repeats, sketch with `distinct`)"


@final
@dataclass(frozen=True)
class BinnedSample:
    """The counts of a sketch as a calibration sample, with bins as ties: a threshold lies between bins."""

    counts: BinCounts
    are_errors: bool = True
    """Since a sketch counts errors."""

    @property
    def population(self) -> SampledFrom:
        """What one more row is a draw from."""
        return population_of(self.counts.n, None)

    def __len__(self) -> int:
        return self.counts.n

    @property
    def ends(self) -> Ints:
        """(g,) the numbers of rows that a threshold can accept, ascending."""
        return np.cumsum(self.counts.counts)[self.counts.bins > 0]

    @property
    def totals_at_ends(self) -> Ints:
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
        points = MANY if counts.n > MOST else FEW
        return _with_caveat(certified_at_fixed_ranks(sample, points, risk=risk, delta=delta), counts)
    threshold = METHODS[rule].rule(*sample.rows(), risk=risk, delta=delta)
    return _with_caveat(replace(threshold, value=sample.below(threshold.accepted, of_rows=threshold.value)), counts)


def target_coverage(counts: BinCounts, /, *, coverage: float, delta: float | None = None) -> Threshold:
    """The highest threshold between bins that keeps at least ``coverage``, as `abstain.thresholds.target_coverage`."""
    return _with_caveat(keeping_coverage(BinnedSample(counts), coverage, delta), counts)


def _with_caveat(threshold: Threshold, counts: BinCounts) -> Threshold:
    """The threshold, whose guarantee is marked as unproved if rows may repeat."""
    return replace(threshold, guarantee=threshold.guarantee.unproved(CLUSTERS)) if counts.are_clusters else threshold

"""Step-down tests along the ranks of the calibration sample itself: the default for a target risk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arrays import Floats, Ints
from abstain._draws import coarse
from abstain._errors import InvalidInputError
from abstain.thresholds.binomial import binomial_p
from abstain.thresholds.critical_values import critical_values
from abstain.thresholds.fallback import certified_in_turn
from abstain.thresholds.graded_losses import Bets, are_tossed, tossed
from abstain.thresholds.guarantee import Guarantee
from abstain.thresholds.risk import certified, nothing_certified
from abstain.thresholds.sample import Sample, check_chance, check_target
from abstain.thresholds.segments import Segment, few_errors, levels_of, segments, tested_in_turn
from abstain.thresholds.threshold import Threshold, at_lower, at_upper

Tests = Callable[[Sample, Segment, float, tuple[float, ...], int], tuple[Ints, "Extent | Ints", bool]]
LEAST_DELTA = 1e-6  # below it what the critical values leave aside would count
FEW = 6  # values of a score up to which each is tested by itself
DIGITS = 30  # binary ones: confidences that agree in them are tied where efficient ranks are tested


def step_down(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The lowest threshold certified by exact tests along the ranks of the sample itself.

    P(selective risk ≤ ``risk``) ≥ 1 − δ over the calibration sample, whose rows must be drawn independently from
    the distribution of deployment (unknown classes included, each an error). Nothing is assumed of the score.
    Without ids the answer is the same for the same rows in any order. Losses other than 0 and 1 are tested by
    bets, few of them by coins. Proof: docs/guarantees.md.

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
    >>> step_down(1 - u, errors, risk=0.05).accepted > 1000
    True
    """
    check_target("risk", risk)
    check_delta(delta)
    sample = Sample.of(confidence, losses, ids=ids, seed=seed)
    safe = SafeRanks.of(sample, risk, delta)
    if not safe.largest:
        raise nothing_certified(sample, lambda *target: SafeRanks.of(sample, *target).largest, risk, delta)
    return safe.threshold("step_down", safe.largest, risk=risk, delta=delta)


def check_delta(delta: float, /) -> None:
    """A number below 1 that the critical values can tell from 0."""
    check_chance("delta", delta)
    if delta < LEAST_DELTA:
        raise InvalidInputError(f"`delta` must be at least {LEAST_DELTA:g} for step_down, got {delta}.")


class Extent(IntEnum):
    """How much of the gap below some accepted rows is certified with them; more is larger."""

    TO_NEXT = 1
    """What is above the tie that follows: a threshold at that tie."""
    OF_TIE = 2
    """The last tie that is accepted: a threshold at it."""
    WHOLE = 3


@final
@dataclass(frozen=True)
class SafeRanks:
    """The numbers of rows that a threshold can accept and that are certified: all together, with 1 − δ."""

    sample: Sample
    ranks: Ints
    """(m,) ascending."""
    extents: NDArray[np.int8]
    """(m,) how much of the gap below each is certified with it."""

    @classmethod
    def of(cls, sample: Sample, risk: float, delta: float, /, *, first: int = 1) -> Self:
        """By tests from the rank ``first`` on."""
        tested = tossed(sample) if not sample.are_errors and are_tossed(len(sample), risk) else sample
        ends = sample.ends
        if len(ends) <= FEW:
            extents = _extents_of_values(tested, risk, delta)
        else:
            extents = _extents(tested, risk, delta, first)[ends]
        safe = (extents > 0) & (ends >= first)
        return cls(sample, ends[safe], extents[safe])

    @property
    def largest(self) -> int:
        """The largest of them; 0 for none."""
        return int(self.ranks[-1]) if len(self.ranks) else 0

    def value(self, rank: int, /) -> float:
        """The threshold that accepts so many rows: halfway to the next row if that much is certified.

        Where a rank inside a tie certified them, nothing is known of the gap, which no row shows: then at the tie.
        """
        extent = self.extents[np.searchsorted(self.ranks, rank)]
        if extent == Extent.WHOLE:
            return self.sample.below(rank)
        lower = float(self.sample.confidence[rank]) if rank < len(self.sample) else -np.inf
        beside = at_upper if extent == Extent.OF_TIE else at_lower
        return beside(float(self.sample.confidence[rank - 1]), lower)

    def threshold(self, method: str, rank: int, /, *, risk: float, delta: float) -> Threshold:
        """The threshold that accepts so many rows, with its guarantee."""
        threshold = certified(method, self.sample, rank, risk=risk, delta=delta)
        guarantee = noting_few_values(threshold.guarantee, self.sample)
        return replace(threshold, value=self.value(rank), guarantee=guarantee)


def noting_few_values(guarantee: Guarantee, sample: Sample, /) -> Guarantee:
    """A guarantee that names the caveat of a score of few values, if the sample shows few."""
    if (values := len(sample.ends)) > FEW:
        return guarantee
    words = "value" if values == 1 else "values"
    return guarantee.noting(f"proved for a score that takes no other values than the {values} {words} of these rows")


def _extents(sample: Sample, risk: float, delta: float, first: int) -> NDArray[np.int8]:
    """(n + 1,) of each number of rows, 0 where it is not certified.

    Each segment is tested at its share of δ, and also at what the one before it had if all of that was rejected.
    """
    tests: Tests = _step_down
    if not sample.are_errors:
        tests = _bets
    elif few_errors(len(sample), risk):
        tests = _efficient_ranks
    parts = segments(len(sample), risk, delta, first=first)
    extents, inherited = np.zeros(len(sample) + 1, dtype=np.int8), 0
    for number, segment in enumerate(parts):
        levels = levels_of(parts, number, delta)
        safe, extent, whole = tests(sample, segment, risk, levels, inherited)
        np.maximum.at(extents, safe, extent)
        inherited = inherited + 1 if whole else 0
    return extents


def _extents_of_values(sample: Sample, risk: float, delta: float) -> NDArray[np.int8]:
    """The same at the ends, for a score of few values, which are its only thresholds: fallback, equal shares of δ."""
    ends, totals = sample.ends, sample.totals
    bets = None if sample.are_errors else Bets.of(sample)

    def passes(rank: int, levels: tuple[float, ...]) -> bool:
        if bets is None:
            return binomial_p(float(totals[rank - 1]), rank, risk) <= levels[0]
        return bets.in_turn(rank, rank, risk, levels) == rank

    passed = certified_in_turn([(rank, 1 / len(ends)) for rank in ends.tolist()], passes, delta)
    return np.where(np.isin(ends, passed), Extent.WHOLE, 0).astype(np.int8)


def _efficient_ranks(
    sample: Sample, segment: Segment, risk: float, levels: tuple[float, ...], inherited: int
) -> tuple[Ints, Ints, bool]:
    """What is certified where efficient ranks alone are tested, in turn, and whether all pass; for errors of 0 and 1.

    The last of them lends its critical value to all ranks after it. Of tied rows the wrong ones come first, so that a
    rank that passes at a right row certifies the whole tie, and one at a wrong row what is above it.
    """
    ranks, allowed = tested_in_turn(segment, risk, levels[0], levels[inherited])
    further = np.arange(ranks[-1] + 1, segment.last + 1)
    tested = np.append(ranks, further)
    errors, certifies = _errors_first(sample, tested)
    passed = errors <= np.append(allowed, np.full(len(further), allowed[-1]))
    in_turn = np.logical_and.accumulate(passed[: len(ranks)])
    passed = np.append(in_turn, in_turn[-1] & passed[len(ranks) :])
    extent = np.select([certifies == tested, certifies > tested], [Extent.WHOLE, Extent.OF_TIE], default=Extent.TO_NEXT)
    return certifies[passed], extent[passed], bool(passed.all())


def _errors_first(sample: Sample, ranks: Ints) -> tuple[Floats, Ints]:
    """The errors among so many rows if those of a tie come first, and how many rows are certified if that is few."""
    values = coarse(sample.confidence, digits=DIGITS)
    ends = np.append(np.flatnonzero(values[1:] != values[:-1]) + 1, len(sample))
    tie = np.searchsorted(ends, ranks)
    totals, begins = np.append(0.0, sample.totals), np.append(0, ends)[tie]
    inside = totals[ends[tie]] - totals[begins]
    right = (ranks - begins > inside) | (ranks == ends[tie])
    return totals[begins] + np.minimum(ranks - begins, inside), np.where(right, ends[tie], begins)


def _step_down(
    sample: Sample, segment: Segment, risk: float, levels: tuple[float, ...], inherited: int
) -> tuple[Ints, Extent, bool]:
    """Which ranks of the segment are rejected, and whether all are; for errors of 0 and 1.

    Testing begins with the first cell; where cells pass it begins again with the first that did not, at higher critical
    values. A rank inside a cell is tested at the value of the cell's first rank, where it is rarer still.
    """
    totals = sample.totals
    table = critical_values(len(sample), risk, segment.first, segment.last, levels)[inherited]
    ends = np.append(table.ranks[1:] - 1, segment.last)
    at_ends, cells = totals[ends - 1], len(ends)
    values, cell = np.full(cells, -1), 0
    while cell < cells:
        values[cell:] = table.beginning(cell)
        passed = at_ends[cell:] <= values[cell:]
        if not passed[0]:
            break
        cell += cells - cell if passed.all() else int(np.argmin(passed))
    each = np.repeat(values, np.diff(np.append(table.ranks, segment.last + 1)))
    safe = segment.first + np.flatnonzero(totals[segment.first - 1 : segment.last] <= each)
    return safe, Extent.WHOLE, cell == cells


def _bets(
    sample: Sample, segment: Segment, risk: float, levels: tuple[float, ...], inherited: int
) -> tuple[Ints, Extent, bool]:
    """The same for losses from 0 to 1: bets on one rank after the other, until one does not pass."""
    last = Bets.of(sample).in_turn(segment.first, segment.last, risk, levels[inherited:])
    return np.arange(segment.first, last + 1), Extent.WHOLE, last == segment.last

"""The rows and errors of a population in each bin of a score, and the metrics they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import log
from typing import final

import numpy as np

from abstain._arguments import check_fraction
from abstain._arrays import Floats, Ints
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain._kernels.counts import FIRST
from abstain.metrics.augrc import generalized_area
from abstain.metrics.aurc import area
from abstain.metrics.compare import ScoreDifference
from abstain.metrics.estimates import Estimate, estimates
from abstain.metrics.groups import Groups, prefix
from abstain.metrics.ood import auroc
from abstain.metrics.operating_points import coverage_at, risk_at
from abstain.metrics.spread import FEW_APART, MOST, Spread, normal_quantile
from abstain.sketch.areas import BinGroups
from abstain.sketch.bins import Bins
from abstain.sketch.jackknife import jackknife_error, jackknife_thirds, left_out, student

SLACK = 1e-12  # of a bound: beyond what rounding can do


@final
@dataclass(frozen=True)
class Bracket:
    """A value with exact bounds: that of the rows is between ``low`` and ``high``, whatever their order within bins.

    Parameters
    ----------
    low, high : float
        Bounds that some order of the rows attains.
    point : float
        The value with bins as ties.
    """

    low: float
    point: float
    """Ties in expectation, as if the rows of a bin had the same confidence."""
    high: float

    @classmethod
    def around(cls, point: float, *ends: float) -> Bracket:
        """The bracket of two ends in any order, widened by what rounding may have done."""
        low, high = min(*ends, point), max(*ends, point)
        return cls(max(0.0, low * (1 - SLACK)), point, min(1.0, high * (1 + SLACK)))

    @property
    def width(self) -> float:
        """The distance of the bounds."""
        return self.high - self.low

    def contains(self, value: float, /) -> bool:
        """Whether a value is possible."""
        return self.low <= value <= self.high


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class BinCounts:
    """Rows and errors of a population by bin of a score: areas, risks and coverages, each with exact bounds.

    `Sketch.counts` makes it. Within a bin the rows may be in any order. Errors first and errors last bound every risk,
    and so all metrics that rise with the risks; each bound is attained by some rows with these counts. If all bits of
    the key are kept and none was rounded, bins are ties and every value is that of the rows to the last bit.

    Attributes
    ----------
    used : Bins
        The bins of the score.
    bins : array of int
        (m,) bins with rows, descending.
    counts : array of int
        (m,) rows in each of these bins.
    errors : array of int
        (m,) errors among them.
    is_exact : bool
        Whether rows of one bin have one confidence.
    are_clusters : bool
        Whether several rows may show the same sample, having ids.
    are_fixed : bool
        Whether the bins were fixed before the rows.
    parts : function
        The same by part of the identities: part, index in ``bins``, rows and errors of each cell with rows.
    """

    used: Bins
    bins: Ints
    counts: Ints
    errors: Ints
    is_exact: bool
    are_clusters: bool
    are_fixed: bool
    parts: Callable[[], tuple[Ints, Ints, Ints, Ints]]
    _areas: dict[float, Bracket] = field(default_factory=dict, init=False, repr=False)
    _without: dict[float, Floats] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if not len(self.counts):
            raise InvalidInputError("`counts` must have rows, got none in this population.")

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.counts.sum())

    @property
    def n_errors(self) -> int:
        """The number of errors."""
        return int(self.errors.sum())

    @cached_property
    def tied(self) -> BinGroups:
        """Bins as ties."""
        return self._binned(self.used.lowest(self.bins), self.counts, self.errors)

    @cached_property
    def errors_first(self) -> BinGroups:
        """The order with the highest risks."""
        return self._split(np.stack([self.errors, self.counts - self.errors], axis=1), wrong=0)

    @cached_property
    def errors_last(self) -> BinGroups:
        """The order with the lowest risks."""
        return self._split(np.stack([self.counts - self.errors, self.errors], axis=1), wrong=1)

    def _split(self, pairs: Ints, *, wrong: int) -> BinGroups:
        errors = np.zeros_like(pairs)
        errors[:, wrong] = pairs[:, wrong]
        kept = pairs.ravel() > 0
        confidence = np.repeat(self.used.lowest(self.bins), 2)[kept]
        return self._binned(confidence, pairs.ravel()[kept], errors.ravel()[kept])

    def _binned(self, confidence: Floats, counts: Ints, errors: Ints) -> BinGroups:
        groups = Groups(confidence, counts, counts.astype(np.float64), errors.astype(np.float64), is_counted=True)
        return BinGroups(groups, is_looped=self.is_exact)

    def _bracket(self, value: Callable[[BinGroups], float]) -> Bracket:
        point = value(self.tied)
        if self.is_exact:
            return Bracket(point, point, point)
        return Bracket.around(point, value(self.errors_first), value(self.errors_last))

    def aurc(self, alpha: float = 1.0) -> Bracket:
        """AURC-α."""
        if alpha not in self._areas:
            self._areas[alpha] = self._bracket(lambda order: area(order, alpha=alpha))
        return self._areas[alpha]

    def augrc(self) -> Bracket:
        """AUGRC."""
        return self._bracket(lambda order: generalized_area(order.tied))

    def auroc(self) -> Bracket:
        """P(right > wrong) + ½P(=): how well confidence separates correct from wrong rows; undefined without both."""
        if not 0 < self.n_errors < self.n:
            raise InvalidInputError(f"AUROC needs correct and wrong rows, got {self.n_errors} errors in {self.n} rows.")
        return self._bracket(lambda order: auroc(order.tied))

    def risk_at_coverage(self, coverage: float, /) -> Bracket:
        """Risk of the fewest most confident rows that make up ``coverage``."""
        return self._bracket(lambda order: risk_at(order.tied, coverage))

    def coverage_at_risk(self, risk: float, /) -> Bracket:
        """The largest coverage that a threshold reaches at an observed risk of at most ``risk``; 0 if there is none.

        The point, which is also the lower end, is that of thresholds between bins.
        """
        point = coverage_at(self.tied.tied, risk)
        return Bracket(point, point, point if self.is_exact else max(point, self._widest(risk)))

    def _widest(self, risk: float) -> float:
        """The largest coverage with errors last: the end of a run of correct rows, or within the errors after it."""
        edges = self.used.edges
        holds_some = edges is not None and edges[0] > FIRST  # the bin that is never accepted took finite rows in
        usable = (self.bins > 0) | holds_some
        counts, errors = self.counts[usable], self.errors[usable]
        ends, before = np.cumsum(counts), np.cumsum(errors) - errors
        rights = ends - errors  # rows up to the run of errors of the bin
        some = (before <= risk * (1 + 1e-12) * rights) & (rights > 0)
        if risk >= 1 or not some.any():
            return float(ends[-1] / self.n) if risk >= 1 and len(ends) else 0.0
        more = np.floor((risk * (1 + 1e-12) * rights - before) / (1 - risk) + 1e-9)
        reached = rights + np.clip(more, 0, errors)
        return min(1.0, float(reached[some].max() / self.n))

    def estimates(self, alphas: Sequence[float] = (1.0,), /, *, level: float = 0.95) -> list[Estimate]:
        """AURC-α with standard errors and intervals, bins as ties.

        Of rows without ids by the influence function, as `aurc_estimates` has it; of rows with ids by leaving out parts
        of them in turn. Where bins are no ties the interval is as much longer as the bracket allows.
        """
        by_alpha = estimates(self.tied, alphas=alphas, level=level)
        if self.are_clusters:
            by_alpha = [self._clustered(estimate, level) for estimate in by_alpha]
        return [_widened(estimate, self.aurc(estimate.alpha)) for estimate in by_alpha]

    def _clustered(self, by_rows: Estimate, level: float) -> Estimate:
        """The estimate with the errors of clusters, never surer than rows would be.

        Clusters that were not seen weigh as many rows more as their variance is that of the rows.
        """
        rows, value = by_rows.spread, by_rows.value
        spread, se = _by_parts(self.without_parts(by_rows.alpha), rows.size, level)
        more = max(1.0, se**2 / rows.variance) if rows.variance else 1.0
        unseen = min(value, more * rows.unseen[0]), min(1 - value, more * rows.unseen[1])
        low, high = replace(spread, unseen=unseen).interval(value, level=level)
        return replace(by_rows, se=se, low=max(0.0, min(low, by_rows.low)), high=min(1.0, max(high, by_rows.high)))

    def without_parts(self, alpha: float, /) -> Floats:
        """(P,) AURC-α of the rows without those of each part in turn."""
        if alpha not in self._without:
            self._without[alpha] = left_out(self.counts, self.errors, self.parts(), alpha)
        return self._without[alpha]

    def compare(self, other: BinCounts, /, *, alpha: float = 1.0, level: float = 0.95) -> ScoreDifference:
        """Paired difference of AURC-α to another score of the same rows, by parts of them left out in turn."""
        check_fraction("level", level)
        mine, others = (counts.estimates([alpha], level=level)[0] for counts in (self, other))
        without = [counts.without_parts(alpha) for counts in (self, other)]
        if (self.n, self.n_errors, len(without[0])) != (other.n, other.n_errors, len(without[1])):
            raise InvalidInputError(
                f"`other` must count the same rows, {self.n} with {self.n_errors} errors, got {other.n} with "
                f"{other.n_errors}."
            )
        difference = mine.value - others.value
        spread, se = _by_parts(without[0] - without[1], mine.spread.size, level)
        unseen = (1 - log(MOST)) / prefix(self.n, alpha)  # that one score alone finds
        low, high = replace(spread, unseen=(unseen, unseen), few=FEW_APART).interval(difference, level=level)
        unknown = self.aurc(alpha).width + other.aurc(alpha).width
        return ScoreDifference(difference, se, low - unknown, high + unknown)


def _by_parts(without: Floats, size: float, level: float) -> tuple[Spread, float]:
    """The spread of a value, as wide as Student's quantile has it, and its standard error, by values without a part."""
    se = jackknife_error(without)
    wider = student(level, len(without)) / normal_quantile((1 + level) / 2)
    return Spread((wider * se) ** 2, jackknife_thirds(without), (0.0, 0.0), size), se


def _widened(estimate: Estimate, bracket: Bracket) -> Estimate:
    """The interval, widened by the bounds at each end."""
    below, above = estimate.value - bracket.low, bracket.high - estimate.value
    return replace(estimate, low=max(0.0, estimate.low - below), high=min(1.0, estimate.high + above))

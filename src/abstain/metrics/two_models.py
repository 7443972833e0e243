"""Paired differences of two models on the same samples: each has its own confidence and its own errors."""

from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import check_fraction
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain._kernels.sums import distance_powers
from abstain.metrics.checks import check_losses
from abstain.metrics.clusters import RowClusters, cluster_sums, error_of_sums, standard_error
from abstain.metrics.influence import Influence
from abstain.metrics.intervals import estimates, mover
from abstain.metrics.operating_points import crossing, risk_influence
from abstain.metrics.ranking import Ranking, SampleRows
from abstain.metrics.spread import FEW_APART, MOST, Spread, effective_number, heaviest

ENOUGH = 5  # distinct clusters, to estimate the weight of those not seen: with fewer, 95% intervals held in 86%


@final
@dataclass(frozen=True)
class Pair:
    """A value of model a, that of model b, and what is known of a minus b."""

    a: float
    b: float
    se: float | None
    """None for coverages where a curve ends, or does not rise."""
    low: float
    high: float

    @property
    def difference(self) -> float:
        """That of a minus that of b."""
        return self.a - self.b

    def swapped(self) -> "Pair":
        """Model b first."""
        return Pair(self.b, self.a, self.se, -self.high, -self.low)

    @property
    def is_significant(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


@final
@dataclass(frozen=True)
class TwoModels:
    """The rankings of the same samples by two models, a and b; samples with the same ids are one cluster."""

    a: Ranking
    b: Ranking
    level: float = 0.95

    @classmethod
    def of(
        cls,
        conf_a: ArrayLike,
        losses_a: ArrayLike,
        conf_b: ArrayLike,
        losses_b: ArrayLike,
        /,
        *,
        ids: ArrayLike | None = None,
        level: float = 0.95,
    ) -> Self:
        """Check and rank the samples of both models.

        >>> two = TwoModels.of([4, 3, 2, 1], [0, 0, 0, 1], [1, 2, 3, 4], [0, 0, 0, 1])
        >>> pair = two.risk(coverage=0.5)
        >>> pair.a, pair.b
        (0.0, 0.5)
        """
        check_fraction("level", level)
        losses = [check_losses(each)[0] for each in (losses_a, losses_b)]
        if len(losses[0]) != len(losses[1]):
            raise InvalidInputError(
                f"`losses_b` must have a loss for each sample of `losses_a`, got {len(losses[1])} for {len(losses[0])}."
            )
        clusters = RowClusters.of(ids, len(losses[0]))
        a, b = (SampleRows.of_checked(each, None, clusters) for each in losses)
        return cls(a.rank(conf_a), b.rank(conf_b), level)

    def swapped(self) -> Self:
        """Model b first."""
        return type(self)(self.b, self.a, self.level)

    def aurc(self, *, alpha: float = 1.0) -> Pair:
        """AURC-α: below zero means that a is better."""
        a, b = (estimates(each, alphas=[alpha], level=self.level)[0] for each in (self.a, self.b))
        return self._pair(a.value, a.find_influence(), b.value, b.find_influence())

    def risk(self, *, coverage: float) -> Pair:
        """Selective risk where both accept the same share: below zero means that a is better."""
        (a, of_a), (b, of_b) = risk_influence(self.a, coverage), risk_influence(self.b, coverage)
        return self._pair(a, of_a, b, of_b)

    def coverage(self, *, risk: float) -> Pair:
        """The share that each accepts at the same risk: above zero means that a is better.

        The interval joins those of both (`crossing`), with the correlation of their influence functions (Zou, 2007).
        """
        a, b = (crossing(each, risk, level=self.level) for each in (self.a, self.b))
        if not self._differ.any():
            return _same(a.value)
        correlation, se = 0.0, None
        if a.centred is not None and b.centred is not None:
            parts = [standard_error(each, self._clusters) for each in (a.centred, b.centred)]
            se = standard_error(a.centred - b.centred, self._clusters)
            both = 2 * parts[0] * parts[1]
            correlation = min(1.0, max(0.0, (parts[0] ** 2 + parts[1] ** 2 - se**2) / both)) if both else 0.0
        low, high = mover((a.value, a.low, a.high), (b.value, b.low, b.high), correlation=correlation)
        return Pair(a.value, b.value, se, low, high)

    def coverage_at_risk_of_b(self, *, coverage: float) -> Pair:
        """The share that a accepts at the risk b has at ``coverage``, and that coverage itself."""
        if not self._differ.any():
            return _same(coverage)
        risk, of_risk = risk_influence(self.b, coverage)
        reached = crossing(self.a, risk, of_risk=of_risk, level=self.level)
        se = None if reached.centred is None else standard_error(reached.centred, self._clusters)
        return Pair(reached.value, coverage, se, reached.low - coverage, reached.high - coverage)

    @property
    def _clusters(self) -> RowClusters | None:
        return self.a.rows.clusters

    @cached_property
    def _differ(self) -> NDArray[np.bool_]:
        """(n,) rows that differ between the two by loss or, unless all have the same ranks, by confidence."""
        losses = self.a.rows.given_losses != self.b.rows.given_losses
        if (self.a.group == self.b.group).all():
            return np.asarray(losses)
        every = np.arange(self.a.n)
        return np.asarray(losses | (self.a.confidence_of(every) != self.b.confidence_of(every)))

    def _pair(self, a: float, of_a: Influence, b: float, of_b: Influence) -> Pair:
        """The difference of two sums of shares of losses.

        Only rows where the two differ are evidence. An error not seen is of their kind, and may be of either model.
        """
        squares, *cubes = distance_powers(of_a.sums, of_b.sums)
        se = error_of_sums(squares, len(of_a.sums), self.a.n)
        if not self._differ.any():
            return _same(a)
        n, size = self.a.n, min(effective_number(each.shares) for each in (of_a, of_b))
        spread = Spread(se**2, (cubes[0] / n**3, cubes[1] / n**3), self._unseen(of_a, of_b), size, few=FEW_APART)
        low, high = spread.interval(a - b, level=self.level)
        return Pair(a, b, se, low, high)

    def _unseen(self, of_a: Influence, of_b: Influence) -> tuple[float, float]:
        """What an error of b takes off and of a adds: as rows where the two differ, or as any if too few do."""
        apart = [cluster_sums(each.share * self._differ, self._clusters) for each in (of_a, of_b)]
        if np.count_nonzero(np.maximum(*apart)) < ENOUGH:
            apart = [of_a.shares, of_b.shares]
        return heaviest(apart[1], MOST), heaviest(apart[0], MOST)


def _same(value: float) -> Pair:
    """The pair of two models that agree on every row."""
    return Pair(value, value, 0.0, 0.0, 0.0)

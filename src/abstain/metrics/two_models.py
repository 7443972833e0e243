"""Paired differences of two models on the same samples: each has its own confidence and its own errors."""

from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import check_fraction
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain.metrics.checks import check_losses
from abstain.metrics.clusters import RowClusters, cluster_sums, standard_error
from abstain.metrics.compare import difference_spread, mover
from abstain.metrics.estimates import estimates
from abstain.metrics.influence import Influence
from abstain.metrics.operating_points import crossing, risk_influence
from abstain.metrics.ranking import Ranking, SampleRows
from abstain.metrics.spread import MOST, effective_number, heaviest

ENOUGH = 5  # distinct clusters, to estimate the weight of those not seen: with fewer, 95% intervals held in 86%


@final
@dataclass(frozen=True)
class ModelDifference:
    """A value of both models, and the difference of a minus b with its standard error and interval.

    Attributes
    ----------
    at : float
        The α, the coverage or the risk.
    a : float
        The value of model a.
    b : float
        The value of model b.
    difference : float
        a − b.
    se : float or None
        Its standard error; None for coverages where a curve ends, or does not rise.
    low : float
        The lower end of its interval.
    high : float
        The upper end of its interval.
    """

    at: float
    a: float
    b: float
    difference: float
    se: float | None
    low: float
    high: float

    @classmethod
    def of(cls, at: float, a: float, b: float, se: float | None, interval: tuple[float, float], /) -> Self:
        """Of two shares, or mean losses: no difference is larger than 1."""
        return cls(float(at), a, b, a - b, se, max(interval[0], -1.0), min(interval[1], 1.0))

    @property
    def change(self) -> tuple[float, float, float]:
        """From a to b: the difference b − a and its interval."""
        return -self.difference, -self.high, -self.low

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

    def aurc(self, *, alpha: float = 1.0) -> ModelDifference:
        """AURC-α: below zero means that a is better."""
        a, b = (estimates(each, alphas=[alpha], level=self.level)[0] for each in (self.a, self.b))
        return self._of_areas(alpha, (a.value, a.find_influence()), (b.value, b.find_influence()))

    def risk(self, *, coverage: float) -> ModelDifference:
        """Selective risk where both accept the same share: below zero means that a is better."""
        return self._of_areas(coverage, risk_influence(self.a, coverage), risk_influence(self.b, coverage))

    def coverage(self, *, risk: float) -> ModelDifference:
        """The share that each accepts at the same risk: above zero means that a is better.

        The interval joins those of both (`crossing`), with the correlation of their influence functions (Zou, 2007).
        """
        a, b = (crossing(each, risk, level=self.level) for each in (self.a, self.b))
        if not self._differ.any():
            return _same(risk, a.value)
        correlation, se = 0.0, None
        if a.centred is not None and b.centred is not None:
            parts = [standard_error(each, self._clusters) for each in (a.centred, b.centred)]
            se = standard_error(a.centred - b.centred, self._clusters)
            both = 2 * parts[0] * parts[1]
            correlation = min(1.0, max(0.0, (parts[0] ** 2 + parts[1] ** 2 - se**2) / both)) if both else 0.0
        interval = mover((a.value, a.low, a.high), (b.value, b.low, b.high), correlation=correlation)
        return ModelDifference.of(risk, a.value, b.value, se, interval)

    def coverage_at_risk_of_b(self, *, coverage: float) -> ModelDifference:
        """The share that a accepts at the risk b has at ``coverage``, and that coverage itself."""
        se, value, (low, high) = self._crossing(self.a, self.b, coverage)
        return ModelDifference.of(coverage, value, coverage, se, (low - coverage, high - coverage))

    def coverage_at_risk_of_a(self, *, coverage: float) -> ModelDifference:
        """That coverage, and the share that b accepts at the risk a has there."""
        se, value, (low, high) = self._crossing(self.b, self.a, coverage)
        return ModelDifference.of(coverage, coverage, value, se, (coverage - high, coverage - low))

    def _crossing(
        self, ranking: Ranking, other: Ranking, coverage: float
    ) -> tuple[float | None, float, tuple[float, float]]:
        """The standard error, value and interval of the share that a ranking accepts at the risk of the other."""
        if not self._differ.any():
            return 0.0, coverage, (coverage, coverage)
        risk, of_risk = risk_influence(other, coverage)
        reached = crossing(ranking, risk, of_risk=of_risk, level=self.level)
        se = None if reached.centred is None else standard_error(reached.centred, self._clusters)
        return se, reached.value, (reached.low, reached.high)

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

    def _of_areas(self, at: float, a: tuple[float, Influence], b: tuple[float, Influence]) -> ModelDifference:
        """The difference of two sums of shares of losses.

        Only rows where the two differ are evidence. An error not seen is of their kind, and may be of either model.
        """
        of_a, of_b = a[1], b[1]
        size = min(effective_number(each.shares) for each in (of_a, of_b))
        se, spread = difference_spread(of_a, of_b, self._unseen(of_a, of_b), size)
        if not self._differ.any():
            return _same(at, a[0])
        return ModelDifference.of(at, a[0], b[0], se, spread.interval(a[0] - b[0], level=self.level))

    def _unseen(self, of_a: Influence, of_b: Influence) -> tuple[float, float]:
        """What an error of b takes off and of a adds: as rows where the two differ, or as any if too few do."""
        apart = [cluster_sums(each.share * self._differ, self._clusters) for each in (of_a, of_b)]
        if np.count_nonzero(np.maximum(*apart)) < ENOUGH:
            apart = [of_a.shares, of_b.shares]
        return heaviest(apart[1], MOST), heaviest(apart[0], MOST)


def _same(at: float, value: float) -> ModelDifference:
    """That of two models that agree on every row."""
    return ModelDifference.of(at, value, value, 0.0, (0.0, 0.0))

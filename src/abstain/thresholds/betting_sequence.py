"""Bets along a sequence of thresholds: guarantees about rows that come in clusters, or that are weighted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, log, log1p
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arrays import Floats, Ints
from abstain._draws import coarse, generator
from abstain._errors import InvalidInputError
from abstain._kernels.bets import reaches
from abstain.metrics.groups import are_errors
from abstain.thresholds.fallback import PILOT, certified_in_turn, looks_safe, proposed
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.refusal import NoSafeThresholdError
from abstain.thresholds.risk import nothing_certified
from abstain.thresholds.sample import (
    Sample,
    SampledFrom,
    as_samples,
    check_chance,
    check_target,
    cluster_numbers,
    population_of,
    rows_of_clusters,
)
from abstain.thresholds.threshold import Threshold

BOLDEST = 0.95  # of the bet that one cluster could ruin


def betting(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    largest: int | None = None,
    seed: int = 0,
) -> Threshold:
    """A threshold certified for rows that come in clusters.

    P(selective risk ≤ ``risk``) ≥ 1 − δ over the calibration sample. Clusters must be independent; rows of one
    cluster may depend on each other in any way. A selective risk above r means that Z = Σ 1[S > γ]·(E − r) over a
    cluster has a positive mean. Bets against that are tested along thresholds that a random 15% of the clusters
    propose. Proof: docs/guarantees.md.

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
        Rows with the same id are one cluster; without ids every row is one.
    largest : int, optional
        The most rows of a cluster: the guarantee is about clusters of at most that size. By default those of the
        largest here.
    seed : int
        Of the draw of the clusters that propose thresholds.

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
    >>> betting(1 - u, errors, risk=0.05, ids=np.arange(2000) // 2).guarantee.largest
    2
    """
    check_target("risk", risk)
    check_chance("delta", delta)
    c, e = as_samples(confidence, losses)
    cluster = np.arange(len(c)) if ids is None else cluster_numbers(ids, len(c))
    here = int(np.bincount(cluster).max())
    if largest is not None and largest < here:
        raise InvalidInputError(
            f"`largest` must be at least the rows of the largest cluster, {here:g}, got {largest:g}."
        )
    most, n = largest or here, int(cluster.max()) + 1
    rows = ClusteredRows.of(c, e, np.ones(len(c)), cluster, most, of_sample=largest is None and here > 1)
    population = population_of(n, None) if ids is None else rows_of_clusters(n, most)
    return rows.certified(population, risk=risk, delta=delta, seed=seed)


@final
@dataclass(frozen=True)
class ClusteredRows:
    """Rows with weights, in a fixed order, with the number of the cluster of each."""

    confidence: Floats
    losses: Floats
    weights: Floats
    cluster: Ints
    largest: float
    """The largest total weight that a cluster can have: its rows, where all weigh 1."""
    of_sample: bool
    """Whether that was read from these clusters and is above 1, rather than known beforehand."""

    @classmethod
    def of(
        cls, confidence: Floats, losses: Floats, weights: Floats, cluster: Ints, largest: float, /, *, of_sample: bool
    ) -> Self:
        """The rows in an order that neither the order given nor the numbers of the clusters decide."""
        order = np.lexsort((cluster, weights, losses, confidence))
        columns = confidence[order], losses[order], weights[order], _by_first_appearance(cluster[order])
        return cls(*columns, float(largest), of_sample)

    def certified(self, population: SampledFrom, /, *, risk: float, delta: float, seed: int) -> Threshold:
        """The lowest threshold that a part of the clusters proposes and the others certify."""
        pilot, rest = self._split(seed)

        def lowest(target: float, delta: float) -> float:
            safe = looks_safe(pilot.confidence, pilot.losses - target, pilot.weights)
            sequence = proposed(pilot.confidence, pilot.weights, safe)

            def passes(threshold: float, levels: tuple[float, ...]) -> bool:
                return rest._rules_out(threshold, target, pilot._spread(threshold, target), levels)

            return min(certified_in_turn(sequence, passes, delta), default=inf)

        def accepted_for(target: float, delta: float) -> int:
            return int(np.count_nonzero(rest.confidence > lowest(target, delta)))

        value = lowest(risk, delta)
        if value == inf:
            raise nothing_certified(Sample.of(rest.confidence, rest.losses), accepted_for, risk, delta)
        guarantee = Guarantee(
            quantity=Quantity.RISK if are_errors(self.losses) else Quantity.LOSS,
            target=risk,
            probability=1 - delta,
            **population,
            caveats=(f"{len(pilot.confidence):,} other rows proposed the thresholds to test",),
        )
        return Threshold.counted(value, "betting", rest.confidence, rest.losses, guarantee)

    def _split(self, seed: int) -> tuple[Self, Self]:
        """The pilot, a random part of the clusters, and the rest; the clusters numbered again in a random order."""
        n = int(self.cluster.max()) + 1
        if n < 2:
            raise NoSafeThresholdError(f"No threshold can be certified on {n} cluster. Calibrate on more clusters.")
        rng = generator("order of clusters", seed, coarse(self.confidence), self.losses, self.weights, self.cluster)
        number, size = rng.permutation(n)[self.cluster], max(1, round(PILOT * n))
        return self._part(number < size, number), self._part(number >= size, number - size)

    def _part(self, rows: NDArray[np.bool_], number: Ints) -> Self:
        columns = {name: getattr(self, name)[rows] for name in ("confidence", "losses", "weights")}
        return replace(self, **columns, cluster=number[rows])

    def _excess(self, threshold: float, risk: float) -> Floats:
        """(clusters,) Z: the loss above ``risk`` of the rows of each cluster that are accepted."""
        paid = np.where(self.confidence > threshold, self.weights * (self.losses - risk), 0.0)
        return np.asarray(np.bincount(self.cluster, weights=paid), dtype=np.float64)

    def _rules_out(self, threshold: float, risk: float, spread: float, levels: tuple[float, ...]) -> bool:
        """Whether bets rule out, at each of the levels, that the risk at this threshold is above ``risk``.

        If the largest cluster was read from the sample, the wealth to reach is raised by the most one cluster can win.
        """
        excess, largest_bet = self._excess(threshold, risk), BOLDEST / (self.largest * (1 - risk))
        besides = log1p(BOLDEST * risk / (1 - risk)) if self.of_sample else 0.0
        return all(reaches(excess, spread, largest_bet, besides - log(level)) for level in levels)

    def _spread(self, threshold: float, risk: float) -> float:
        """The mean square of Z, but at least its value for independent rows with a risk of exactly ``risk``."""
        excess = self._excess(threshold, risk)
        alone = np.where(self.confidence > threshold, self.weights, 0.0)
        return max(float(np.square(excess).mean()), risk * (1 - risk) * float(np.square(alone).sum()) / len(excess))


def _by_first_appearance(cluster: Ints) -> Ints:
    """The clusters numbered in the order in which their rows come."""
    _, first, number = np.unique(cluster, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number]

"""Bets along a sequence of thresholds: promises about rows that come in clusters, or that are weighted."""

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.draws import generator
from abstain.kernels.bets import reaches
from abstain.metrics.checks import check_samples
from abstain.thresholds.fallback import PILOT, looks_safe, lowest_certified, possible_levels, proposed
from abstain.thresholds.promise import RISK, Promise
from abstain.thresholds.risk import nothing_certified
from abstain.thresholds.sample import Sample, check_target, cluster_numbers, rows_like
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def betting(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    largest: float | None = None,
    seed: int = 0,
) -> Threshold:
    """A threshold certified for the distribution of rows where rows come in clusters, or have weights.

    P(selective risk ≤ ``risk``) ≥ 1 − δ. The clusters of ``ids`` must be independent; what is inside one may depend on
    each other in any way. R(γ) > r means that Z = Σ 1[S > γ]·w·(E − r) over a cluster is above 0 in expectation, and
    bets against that are tested along thresholds that a random 15% of the clusters propose. Z is at most
    ``largest``·(1 − r), where ``largest`` bounds the rows of a cluster in deployment, or their total weight: by default
    the largest seen, which the promise says; it must be given with ``weights``, which are dP'/dP for a promise about
    P'.
    """
    check_target("risk", risk)
    check_target("delta", delta)
    units = _Units.of(confidence, losses, ids, weights, largest)
    pilot, rest = units.split(seed)

    def lowest(target: float, delta: float) -> float:
        safe = looks_safe(pilot.confidence, pilot.losses - target, pilot.weights)
        sequence = proposed(pilot.confidence, pilot.weights, safe)
        levels = possible_levels(sequence, delta)

        def passes(threshold: float, level: float) -> bool:
            higher = [other for other in levels if other > level * (1 - 1e-9)]
            return rest.rules_out(threshold, target, pilot.spread(threshold, target), higher)

        return lowest_certified(sequence, passes, delta)

    value = lowest(risk, delta)
    if value == np.inf:
        sample = Sample.of(rest.confidence, rest.losses)

        def accepted_for(target: float, delta: float) -> int:
            return int(np.count_nonzero(rest.confidence > lowest(target, delta)))

        raise nothing_certified(sample, accepted_for, risk, delta)
    accepted = rest.confidence > value
    return Threshold(
        value=value,
        method="betting",
        n=len(rest.confidence),
        accepted=int(np.count_nonzero(accepted)),
        errors=float(rest.losses[accepted].sum()),
        promise=Promise(quantity=RISK, target=risk, probability=1 - delta, distribution=units.distribution),
    )


@dataclass(frozen=True)
class _Units:
    """Rows in an order of their own, with the number of each one's cluster."""

    confidence: Floats
    losses: Floats
    weights: Floats
    cluster: Ints
    largest: float
    distribution: str

    @classmethod
    def of(
        cls,
        confidence: ArrayLike,
        losses: ArrayLike,
        ids: ArrayLike | None,
        weights: ArrayLike | None,
        largest: float | None,
    ) -> "_Units":
        check_samples(confidence, losses)
        c, e = np.asarray(confidence, dtype=np.float64), np.asarray(losses, dtype=np.float64)
        w = np.ones(len(c)) if weights is None else np.asarray(weights, dtype=np.float64)
        if w.shape != c.shape:
            raise ValueError(f"`weights` must have a weight for each row, got {w.shape} for {c.shape}.")
        cluster = np.arange(len(c)) if ids is None else cluster_numbers(ids, len(c))
        totals = np.bincount(cluster, weights=w)
        if largest is None:
            if weights is not None:
                raise ValueError("`largest` must be given, a bound on the weights known beforehand, got none.")
            largest = float(totals.max())
        if not largest > 0 or not ((w >= 0).all() and (totals <= largest * (1 + 1e-12)).all()):
            raise ValueError(
                f"`weights` must be at least 0 and at most `largest` ({largest:g}) per cluster, got others."
            )
        order = np.lexsort((cluster, w, e, c))
        cluster = _by_first_appearance(cluster[order])
        words = rows_like(len(c)) if len(totals) == len(c) else _clusters_like(len(totals), largest)
        if weights is not None:
            words = "rows of the distribution that the weights describe"
        return cls(c[order], e[order], w[order], cluster, float(largest), words)

    def split(self, seed: int) -> tuple["_Units", "_Units"]:
        """The pilot, a random part of the clusters, and the rest; the clusters numbered anew in a random order."""
        n = int(self.cluster.max()) + 1
        if n < 2:
            raise NoSafeThresholdError(f"No threshold can be certified on {n} cluster. Calibrate on more clusters.")
        rng = generator("order of clusters", seed, self.confidence, self.losses, self.weights, self.cluster)
        number, size = rng.permutation(n)[self.cluster], max(1, round(PILOT * n))
        return self._part(number < size, number), self._part(number >= size, number - size)

    def _part(self, rows: NDArray[np.bool_], number: Ints) -> "_Units":
        parts = self.confidence[rows], self.losses[rows], self.weights[rows], number[rows]
        return _Units(*parts, self.largest, self.distribution)

    def excess(self, threshold: float, risk: float) -> Floats:
        """(clusters,) Z: the loss above ``risk`` of the rows of each cluster that are accepted."""
        paid = np.where(self.confidence > threshold, self.weights * (self.losses - risk), 0.0)
        return np.asarray(np.bincount(self.cluster, weights=paid), dtype=np.float64)

    def rules_out(self, threshold: float, risk: float, spread: float, levels: list[float]) -> bool:
        """Whether bets rule out, at each of the levels, that the risk at this threshold is above ``risk``."""
        excess, largest_bet = self.excess(threshold, risk), 0.95 / (self.largest * (1 - risk))
        return all(reaches(excess, spread, largest_bet, -log(level)) for level in levels)

    def spread(self, threshold: float, risk: float) -> float:
        """The mean square of Z, at least what it is where every row is a cluster and the risk is just ``risk``."""
        excess = self.excess(threshold, risk)
        alone = np.where(self.confidence > threshold, self.weights, 0.0)
        return max(float(np.square(excess).mean()), risk * (1 - risk) * float(np.square(alone).sum()) / len(excess))


def _clusters_like(clusters: int, largest: float) -> str:
    return f"rows of clusters drawn independently as these {clusters} were, of at most {largest:g} rows each"


def _by_first_appearance(cluster: Ints) -> Ints:
    """The clusters numbered in the order in which their rows come."""
    _, first, number = np.unique(cluster, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number]

"""Bets along a sequence of thresholds: guarantees about rows that come in clusters, or that are weighted."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, log1p

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_doubles
from abstain._draws import coarse, generator
from abstain._errors import InvalidInputError
from abstain._kernels.bets import reaches
from abstain.metrics.checks import check_samples
from abstain.metrics.groups import are_errors
from abstain.thresholds.fallback import PILOT, looks_safe, lowest_certified, possible_levels, proposed
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.refusal import NoSafeThresholdError
from abstain.thresholds.risk import nothing_certified
from abstain.thresholds.sample import (
    Sample,
    check_chance,
    check_target,
    cluster_numbers,
    clusters_like,
    range_words,
    rows_like,
)
from abstain.thresholds.threshold import Threshold

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BOLDEST = 0.95  # of the bet that one cluster could ruin


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
    """A threshold certified for rows that come in clusters or have weights.

    P(selective risk ≤ ``risk``) ≥ 1 − δ over the calibration sample. Clusters must be independent; rows of one
    cluster may depend on each other in any way. A selective risk above r means that Z = Σ 1[S > γ]·w·(E − r) over a
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
    weights : (n,) array, optional
        dP'/dP of each row, for a guarantee about P'.
    largest : float, optional
        The most rows of a cluster, or with weights their largest total: the guarantee is about clusters of at most
        that size. By default that of this sample; with weights it must be given.
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

        def accepted_for(target: float, delta: float) -> int:
            return int(np.count_nonzero(rest.confidence > lowest(target, delta)))

        raise nothing_certified(Sample.of(rest.confidence, rest.losses), accepted_for, risk, delta)
    accepted = rest.confidence > value
    return Threshold(
        value=value,
        method="betting",
        n=len(rest.confidence),
        accepted=int(np.count_nonzero(accepted)),
        errors=float(rest.losses[accepted].sum()),
        guarantee=units.guarantee(risk, delta).noting(
            f"{len(pilot.confidence):,} rows more proposed the thresholds to test"
        ),
    )


@dataclass(frozen=True)
class _Units:
    """Rows in a fixed order, with the number of the cluster of each."""

    confidence: Floats
    losses: Floats
    weights: Floats
    cluster: Ints
    largest: float
    of_sample: bool
    """Whether ``largest`` was read from these clusters and is above 1, rather than known beforehand."""
    distribution: str
    assumed: int | None
    """The rows of a cluster that the guarantee is about at most; None without clusters."""

    @classmethod
    def of(
        cls,
        confidence: ArrayLike,
        losses: ArrayLike,
        ids: ArrayLike | None,
        weights: ArrayLike | None,
        largest: float | None,
    ) -> _Units:
        check_samples(confidence, losses)
        c, e = as_doubles("confidence", confidence), as_doubles("losses", losses)
        w = np.ones(len(c)) if weights is None else as_doubles("weights", weights)
        if w.shape != c.shape:
            raise InvalidInputError(f"`weights` must have a weight for each row, got {w.shape} for {c.shape}.")
        cluster = np.arange(len(c)) if ids is None else cluster_numbers(ids, len(c))
        totals = np.bincount(cluster, weights=w)
        of_sample = largest is None and ids is not None and totals.max() > 1
        if largest is None:
            if weights is not None:
                raise InvalidInputError("`largest` must be given, a bound on the weights known beforehand, got none.")
            largest = float(totals.max())
        if weights is None and largest < totals.max():
            raise InvalidInputError(
                f"`largest` must be at least the rows of the largest cluster, {totals.max():g}, got {largest:g}."
            )
        if not largest > 0 or not ((w >= 0).all() and (totals <= largest * (1 + 1e-12)).all()):
            raise InvalidInputError(
                f"`weights` must be at least 0 and at most `largest` ({largest:g}) per cluster, got "
                f"totals of {range_words(totals)}."
            )
        order = np.lexsort((cluster, w, e, c))
        cluster = _by_first_appearance(cluster[order])
        words, assumed = (
            (rows_like(len(c)), None) if ids is None else (clusters_like(len(totals), largest), int(largest))
        )
        if weights is not None:
            words, assumed = "rows of the distribution that the weights describe", None
        return cls(c[order], e[order], w[order], cluster, float(largest), of_sample, words, assumed)

    def guarantee(self, risk: float, delta: float) -> Guarantee:
        """That of a certified threshold, about a share of errors or a mean loss."""
        return Guarantee(
            quantity=Quantity.RISK if are_errors(self.losses) else Quantity.LOSS,
            target=risk,
            probability=1 - delta,
            distribution=self.distribution,
            largest=self.assumed,
        )

    def split(self, seed: int) -> tuple[_Units, _Units]:
        """The pilot, a random part of the clusters, and the rest; the clusters numbered again in a random order."""
        n = int(self.cluster.max()) + 1
        if n < 2:
            raise NoSafeThresholdError(f"No threshold can be certified on {n} cluster. Calibrate on more clusters.")
        rng = generator("order of clusters", seed, coarse(self.confidence), self.losses, self.weights, self.cluster)
        number, size = rng.permutation(n)[self.cluster], max(1, round(PILOT * n))
        return self._part(number < size, number), self._part(number >= size, number - size)

    def _part(self, rows: NDArray[np.bool_], number: Ints) -> _Units:
        parts = self.confidence[rows], self.losses[rows], self.weights[rows], number[rows]
        return _Units(*parts, self.largest, self.of_sample, self.distribution, self.assumed)

    def excess(self, threshold: float, risk: float) -> Floats:
        """(clusters,) Z: the loss above ``risk`` of the rows of each cluster that are accepted."""
        paid = np.where(self.confidence > threshold, self.weights * (self.losses - risk), 0.0)
        return np.asarray(np.bincount(self.cluster, weights=paid), dtype=np.float64)

    def rules_out(self, threshold: float, risk: float, spread: float, levels: list[float]) -> bool:
        """Whether bets rule out, at each of the levels, that the risk at this threshold is above ``risk``.

        If the largest cluster was read from the sample, the wealth to reach is raised by the most one cluster can win.
        """
        excess, largest_bet = self.excess(threshold, risk), BOLDEST / (self.largest * (1 - risk))
        besides = log1p(BOLDEST * risk / (1 - risk)) if self.of_sample else 0.0
        return all(reaches(excess, spread, largest_bet, besides - log(level)) for level in levels)

    def spread(self, threshold: float, risk: float) -> float:
        """The mean square of Z, but at least its value for independent rows with a risk of exactly ``risk``."""
        excess = self.excess(threshold, risk)
        alone = np.where(self.confidence > threshold, self.weights, 0.0)
        return max(float(np.square(excess).mean()), risk * (1 - risk) * float(np.square(alone).sum()) / len(excess))


def _by_first_appearance(cluster: Ints) -> Ints:
    """The clusters numbered in the order in which their rows come."""
    _, first, number = np.unique(cluster, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number]

"""Covariate shift with known weights: certify the risk under another law than that of the sample."""

from dataclasses import dataclass, replace
from math import exp
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.thresholds.betting import bets_for, log_capital
from abstain.thresholds.calibration import Calibration, calibration_of, check_target, one_of_each
from abstain.thresholds.estimated_weights import EstimatedWeights
from abstain.thresholds.fixed_sequence import certify, fixed_sequence, split_pilot
from abstain.thresholds.risk import DRAWN_AS
from abstain.thresholds.threshold import Threshold

Floats = NDArray[np.float64]


def rejection_sample(weights: ArrayLike, /, *, largest: float, seed: int = 0) -> NDArray[np.bool_]:
    """Keep each sample with probability w / ``largest``: what is kept is an exact sample of the shifted law.

    The weights dP'/dP must be known and at most ``largest``. (Park et al., 2022)
    """
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim != 1 or not ((w >= 0) & (w <= largest)).all():
        raise ValueError(f"`weights` must be between 0 and `largest` ({largest}), got others.")
    return np.random.default_rng(seed).random(len(w)) < w / largest


def weighted_fixed_sequence(
    confidence: ArrayLike,
    losses: ArrayLike,
    weights: ArrayLike | EstimatedWeights,
    /,
    *,
    risk: float,
    largest: float | None = None,
    delta: float = 0.05,
    by: Literal["rejection_sampling", "betting"] = "rejection_sampling",
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """A threshold certified for the law with density ``weights``, at most ``largest``, relative to that of the sample.

    By rejection sampling, which keeps a true sample of the shifted law for `fixed_sequence`, or by betting on all
    samples along the same sequence of thresholds, which is better where few weights come near ``largest``. One row of
    each cluster of ``ids`` is used. The guarantee is that of
    `fixed_sequence`, for the shifted law, if the weights are the true ones. With estimated weights the result says that
    there is no finite-sample guarantee.
    """
    check_target("risk", risk)
    check_target("delta", delta)
    estimated = isinstance(weights, EstimatedWeights)
    w = weights.weights if isinstance(weights, EstimatedWeights) else np.asarray(weights, dtype=np.float64)
    if largest is None:
        if not isinstance(weights, EstimatedWeights):
            raise ValueError("`largest` must be given, a bound on the weights known beforehand, got none.")
        largest = weights.largest
    if by not in ("rejection_sampling", "betting"):
        raise ValueError(f"`by` must be rejection_sampling or betting, got {by!r}.")
    c, e = np.asarray(confidence, dtype=np.float64), np.asarray(losses, dtype=np.float64)
    if not c.shape == e.shape == w.shape:
        raise ValueError(f"`weights` must have a weight for each sample, got {w.shape} for {c.shape}.")
    if ids is not None:
        rows = one_of_each(ids, len(c), seed=seed)
        c, e, w = c[rows], e[rows], w[rows]
    kept = rejection_sample(w, largest=largest, seed=seed)
    if by == "rejection_sampling":
        if not kept.any():
            raise ValueError("`weights` must keep at least one sample, got none kept. Calibrate on more samples.")
        found = fixed_sequence(c[kept], e[kept], risk=risk, delta=delta, seed=seed)
    else:
        found = _by_betting(c, e, w, kept, risk=risk, largest=largest, delta=delta, seed=seed)
    words = found.guarantee.replace(DRAWN_AS.format(found.n), "for samples of the law that the weights describe")
    if estimated:
        words = f"no finite-sample guarantee, since the weights are estimated; if they were true, {words}"
    return replace(found, method="weighted_fixed_sequence", guarantee=words)


def _by_betting(
    c: Floats,
    e: Floats,
    w: Floats,
    kept: NDArray[np.bool_],
    *,
    risk: float,
    largest: float,
    delta: float,
    seed: int,
) -> Threshold:
    in_pilot = split_pilot(len(c), seed)
    order = np.argsort(-c, kind="stable")
    sample = calibration_of(c, e)
    w, in_pilot, kept = w[order], in_pilot[order], kept[order]
    rest, pilot = sample.part(~in_pilot), sample.part(in_pilot & kept)
    weighted = WeightedCalibration(
        rest.confidence,
        rest.losses,
        rest.are_errors,
        weights=w[~in_pilot],
        largest=largest,
        delta=delta,
        pilot_confidence=sample.confidence[in_pilot],
        pilot_squares=np.append(0.0, np.cumsum(w[in_pilot] ** 2)) / max(np.count_nonzero(in_pilot), 1),
    )
    return certify("weighted_fixed_sequence", weighted, pilot, risk, delta)


@dataclass(frozen=True)
class WeightedCalibration(Calibration):
    """Samples with weights, most trusted first, tested by bets whose size a pilot tells."""

    weights: Floats
    largest: float
    delta: float
    pilot_confidence: Floats
    pilot_squares: Floats
    """(m + 1,) mean over the pilot of w² among its k most trusted."""

    def p_value(self, threshold: float, risk: float, /) -> float:
        """Of "the weighted selective risk at this threshold is above risk": one over the capital of the bets."""
        accepted, _ = self.counts(threshold)
        k = int(np.searchsorted(-self.pilot_confidence, -threshold))
        second_moment = risk * (1 - risk) * float(self.pilot_squares[k])  # what it is where the risk is just that
        bets = bets_for(second_moment, len(self), self.delta, largest=self.largest * (1 - risk))
        excess = self.weights[:accepted] * (self.losses[:accepted] - risk)
        return exp(min(0.0, -log_capital(excess, bets)))

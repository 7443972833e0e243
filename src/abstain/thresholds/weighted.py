"""Covariate shift with known weights: certify the risk under another law than that of the sample."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.thresholds.calibration import check_target
from abstain.thresholds.estimated_weights import EstimatedWeights
from abstain.thresholds.fixed_sequence import fixed_sequence
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
    seed: int = 0,
) -> Threshold:
    """A threshold certified for the law with density ``weights``, at most ``largest``, relative to that of the sample.

    By rejection sampling, then `fixed_sequence`, so the guarantee is the same, for the shifted law, if the weights are
    the true ones. With estimated weights the result says that there is no finite-sample guarantee.
    """
    estimated = isinstance(weights, EstimatedWeights)
    w = weights.weights if isinstance(weights, EstimatedWeights) else np.asarray(weights, dtype=np.float64)
    if largest is None:
        if not isinstance(weights, EstimatedWeights):
            raise ValueError("`largest` must be given, a bound on the weights known beforehand, got none.")
        largest = weights.largest
    kept = rejection_sample(w, largest=largest, seed=seed)
    if not kept.any():
        raise ValueError("`weights` must keep at least one sample, got none kept. Calibrate on more samples.")
    found = fixed_sequence(np.asarray(confidence)[kept], np.asarray(losses)[kept], risk=risk, delta=delta, seed=seed)
    words = f"no finite-sample guarantee, since the weights are estimated; if they were true, {found.guarantee}"
    return replace(found, method="weighted_fixed_sequence", guarantee=words if estimated else found.guarantee)


def betting_evidence(
    weights: ArrayLike, losses: ArrayLike, /, *, risk: float, bet: float, accepted: ArrayLike | None = None
) -> Floats:
    """Running evidence (n,) that the weighted selective risk is below ``risk``: Π (1 − λ w·1[accept](ℓ − risk)).

    Under the opposite its expectation never exceeds 1, so reaching 1/δ at any time certifies with probability 1 − δ.
    The bet λ must be below 1/(largest weight · (1 − risk)).

    >>> betting_evidence([1, 2, 0.5, 1], [0, 0, 0, 1], risk=0.1, bet=0.3).round(8)
    array([1.03      , 1.0918    , 1.108177  , 0.80896921])
    """
    check_target("risk", risk)
    w, e = np.asarray(weights, dtype=np.float64), np.asarray(losses, dtype=np.float64)
    kept = np.ones(len(w)) if accepted is None else np.asarray(accepted, dtype=np.float64)
    if not 0 <= bet < 1 / (w.max() * (1 - risk)):
        raise ValueError(f"`bet` must be below {1 / (w.max() * (1 - risk)):.4g} for these weights, got {bet}.")
    return np.asarray(np.cumprod(1 - bet * w * kept * (e - risk)), dtype=np.float64)

"""Learn-then-Test along a sequence of thresholds fixed beforehand: the default for a target risk."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.thresholds.calibration import Calibration, calibration_of, check_target
from abstain.thresholds.risk import certified, nothing_certified
from abstain.thresholds.threshold import Threshold

Floats = NDArray[np.float64]
PILOT = 0.1
PILOT_SHARE = 0.9  # of δ, at half the coverage that looks safe on the pilot; the rest insures against its errors
STARTS = (0.2, 0.4)
POINTS = 96


def fixed_sequence(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    unlabelled: ArrayLike | None = None,
    starts: tuple[float, ...] = STARTS,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The lowest threshold certified by testing thresholds from high to low, where each pass lends its δ to the next.

    P(selective risk ≤ ``risk``) ≥ 1 − δ over the calibration sample, which must be drawn independently from the law
    of deployment (label-shifted samples included, each an error); nothing is assumed of the score. The thresholds must
    not depend on the losses they are tested on: they come from ``unlabelled`` confidences, with δ shared among the
    coverages ``starts``, or else from a pilot of 10% of the sample, which is then not tested on; nine tenths of
    δ are given to what looks safe on it.
    One row of each cluster of ``ids`` is used. Errors are tested by the exact binomial, other losses in [0, 1] by
    Hoeffding–Bentkus. (Angelopoulos et al., 2021; Wiens, 2003)
    """
    check_target("risk", risk)
    check_target("delta", delta)
    sample = calibration_of(confidence, losses, ids=ids, seed=seed)
    if unlabelled is None:
        in_pilot = split_pilot(len(sample), seed)
        return certify("fixed_sequence", sample.part(~in_pilot), sample.part(in_pilot), risk, delta, starts)
    return certify("fixed_sequence", sample, _pool_of(unlabelled), risk, delta, starts)


def certify(
    method: str,
    sample: Calibration,
    before: Calibration | Floats,
    risk: float,
    delta: float,
    starts: tuple[float, ...] = STARTS,
) -> Threshold:
    """The lowest threshold that ``sample`` certifies in a sequence made from a pilot or from unlabelled confidences."""
    shares = _equal_shares(starts)

    def lowest(target: float) -> float:
        if isinstance(before, Calibration):
            sequence = _sequence(before.confidence, _with_pilot(shares, before, target))
        else:
            sequence = _sequence(before, shares)
        return _lowest_certified(sample, *sequence, target, delta)

    value = lowest(risk)
    if value == np.inf:
        raise nothing_certified(sample, lowest, risk=risk, delta=delta)
    return certified(method, sample, value, risk=risk, delta=delta)


def split_pilot(n: int, seed: int, /) -> NDArray[np.bool_]:
    """Which samples are the pilot."""
    return np.random.default_rng([seed, 1]).random(n) < PILOT


def _lowest_certified(sample: Calibration, thresholds: Floats, shares: Floats, risk: float, delta: float) -> float:
    """The fallback procedure: each threshold is tested at its own share of δ and at what the one before passes on."""
    value, level = np.inf, 0.0
    for threshold, share in zip(thresholds, shares, strict=True):
        level += share * delta
        if level and sample.p_value(threshold, risk) <= level:
            value = float(threshold)
        else:
            level = 0.0
    return value


def _with_pilot(shares: dict[float, float], pilot: Calibration, risk: float) -> dict[float, float]:
    """Most of δ at half of the largest coverage that looks safe on the pilot, a quarter where none does."""
    risks = np.cumsum(pilot.losses) / np.arange(1, len(pilot) + 1)
    safe = np.flatnonzero(risks <= risk)
    start = 0.5 * float(safe[-1] + 1) / len(pilot) if safe.size else 0.25
    insured = {at: (1 - PILOT_SHARE) * share for at, share in shares.items()}
    return insured | {start: insured.get(start, 0.0) + PILOT_SHARE}


def _pool_of(unlabelled: ArrayLike) -> Floats:
    pool = np.asarray(unlabelled, dtype=np.float64)
    if pool.ndim != 1 or np.isnan(pool).any():
        raise ValueError(f"`unlabelled` must be confidences of shape (m,) without NaN, got shape {pool.shape}.")
    return np.sort(pool)[::-1]


def _equal_shares(starts: tuple[float, ...]) -> dict[float, float]:
    if not starts or not all(0 < start < 1 for start in starts) or len(set(starts)) < len(starts):
        raise ValueError(f"`starts` must be distinct coverages between 0 and 1, got {starts}.")
    return dict.fromkeys(starts, 1 / len(starts))


def _sequence(pool: Floats, shares: dict[float, float]) -> tuple[Floats, Floats]:
    """Thresholds at coverages from the first start to all, high to low, and the share of δ that each brings."""
    places = (np.linspace(min(shares), 1.0, POINTS) * len(pool)).astype(int)
    everything = np.append(pool, -np.inf)
    thresholds = np.unique(everything[places])[::-1]
    if len(pool):
        thresholds = thresholds[(thresholds < pool[0]) | (thresholds == -np.inf)]  # the highest accept nothing
    brought = np.zeros(len(thresholds))
    for start, share in shares.items():
        brought[np.searchsorted(-thresholds, -everything[int(start * len(pool))])] += share
    return thresholds, brought

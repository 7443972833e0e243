"""Learn-then-Test along a fixed sequence of thresholds: the default for a target risk."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.thresholds.calibration import Calibration, calibration_of, check_target
from abstain.thresholds.risk import certified, nothing_certified
from abstain.thresholds.threshold import Threshold

Floats = NDArray[np.float64]
PILOT = 0.15
POINTS = 24


def fixed_sequence(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    unlabelled: ArrayLike | None = None,
    starts: tuple[float, ...] = (0.15, 0.35),
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The lowest threshold certified by testing thresholds from high to low, each at level δ, until one fails.

    P(selective risk ≤ ``risk``) ≥ 1 − δ over the calibration sample, which must be drawn independently from the law
    of deployment (label-shifted samples included, each an error); nothing is assumed of the score. The thresholds must
    not depend on the losses they are tested on: they come from ``unlabelled`` confidences, in one sequence from each of
    the coverages ``starts`` with δ shared among them, or else from a pilot of 15% of the sample, which is then not
    tested on. One row of each cluster of ``ids`` is used. Errors are tested by the exact binomial, other losses in
    [0, 1] by Hoeffding–Bentkus. (Angelopoulos et al., 2021)
    """
    check_target("risk", risk)
    check_target("delta", delta)
    sample = calibration_of(confidence, losses, ids=ids, seed=seed)
    if unlabelled is None:
        pilot, sample = _split(sample, seed)
        sequences = [_around(pilot, risk)]
    else:
        pool = np.sort(np.asarray(unlabelled, dtype=np.float64))[::-1]
        sequences = [_from(pool, start) for start in starts]
    found = [_last_certified(sample, sequence, risk, delta / len(sequences)) for sequence in sequences]
    value = min(found)
    if value == np.inf:
        raise nothing_certified(sample, risk=risk, delta=delta)
    return certified("fixed_sequence", sample, value, risk=risk, delta=delta)


def _last_certified(sample: Calibration, sequence: Floats, risk: float, delta: float) -> float:
    value = np.inf
    for threshold in sequence:
        if sample.p_value(threshold, risk) > delta:
            break
        value = float(threshold)
    return value


def _split(sample: Calibration, seed: int) -> tuple[Calibration, Calibration]:
    """A pilot and the rest."""
    pilot = np.random.default_rng([seed, 1]).random(len(sample)) < PILOT
    return (
        Calibration(sample.confidence[pilot], sample.losses[pilot], sample.are_errors),
        Calibration(sample.confidence[~pilot], sample.losses[~pilot], sample.are_errors),
    )


def _around(pilot: Calibration, risk: float) -> Floats:
    """Thresholds at coverages from half to 1.6 times what the pilot takes to be the largest safe one."""
    if not len(pilot):
        return np.empty(0)
    risks = np.cumsum(pilot.losses) / np.arange(1, len(pilot) + 1)
    safe = np.flatnonzero(risks <= risk)
    largest = (safe[-1] + 1) / len(pilot) if safe.size else 0.25
    return _at_coverages(pilot.confidence, np.linspace(0.5 * largest, min(1.6 * largest, 1.0), POINTS))


def _from(pool: Floats, start: float) -> Floats:
    return _at_coverages(pool, np.linspace(start, 1.0, 4 * POINTS))


def _at_coverages(descending: Floats, coverages: Floats) -> Floats:
    """Thresholds that accept about these shares of the scores, from high to low, without repetition."""
    places = np.minimum((coverages * len(descending)).astype(int), len(descending) - 1)
    return np.unique(descending[places])[::-1]

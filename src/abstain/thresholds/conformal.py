"""Conformal rules: promises in expectation, from exchangeability alone."""

from math import inf

import numpy as np
from numpy.typing import ArrayLike

from abstain.thresholds.calibration import calibration_of, check_target
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold


def conformal_joint(
    confidence: ArrayLike, losses: ArrayLike, /, *, risk: float, ids: ArrayLike | None = None, seed: int = 0
) -> Threshold:
    """The lowest threshold at which P(accepted and wrong) ≤ ``risk``, in expectation over calibration and test sample.

    The joint risk falls as the threshold rises, so conformal risk control applies: (Σ losses accepted + 1)/(n + 1) ≤
    risk. Samples need only be exchangeable; one row of each cluster of ``ids`` is used. (Angelopoulos et al., 2024)

    >>> s = [0.95, 0.9, 0.88, 0.8, 0.75, 0.7, 0.6, 0.55, 0.5, 0.4, 0.3, 0.2]
    >>> e = [0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1]
    >>> conformal_joint(s, e, risk=0.2).accepted
    7
    """
    check_target("risk", risk)
    sample = calibration_of(confidence, losses, ids=ids, seed=seed)
    n = len(sample)
    distinct = np.unique(sample.confidence)[::-1]
    value = inf
    for threshold in np.nextafter(distinct, -inf):
        _, total = sample.counts(float(threshold))
        if (total + 1) / (n + 1) > risk:
            break
        value = float(threshold)
    if value == inf:
        raise NoSafeThresholdError(
            f"No threshold keeps P(accepted and wrong) <= {risk:.4g} on n={n} calibration samples. "
            f"Calibrate on at least {int(np.ceil(1 / risk)) - 1}, or raise `risk`."
        )
    accepted, total = sample.counts(value)
    guarantee = (
        f"a sample is accepted and wrong with probability at most {risk:.4g}, in expectation over the calibration "
        f"sample of {n} and an exchangeable test sample."
    )
    return Threshold(value, "conformal_joint", risk, None, n, accepted, total, (total + 1) / (n + 1), guarantee)


def conformal_selection(
    confidence: ArrayLike,
    losses: ArrayLike,
    test_confidence: ArrayLike,
    /,
    *,
    risk: float,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The threshold for one batch of test samples with expected share of errors among the accepted at most ``risk``.

    Conformal p-values against the wrong calibration samples, then Benjamini–Hochberg: the lowest γ with
    m/(n+1) · (1 + errors above γ) / (test samples above γ) ≤ risk. Holds for exchangeable samples, for this batch,
    in expectation. Errors of 0 and 1 only; one row of each cluster of ``ids`` is used. (Jin & Candès, 2023)
    """
    check_target("risk", risk)
    sample = calibration_of(confidence, losses, ids=ids, seed=seed)
    if not sample.are_errors:
        raise ValueError("`losses` must be 0 or 1 for conformal_selection, got others.")
    test = np.sort(np.asarray(test_confidence, dtype=np.float64))[::-1]
    if test.ndim != 1 or not test.size or np.isnan(test).any():
        raise ValueError(
            f"`test_confidence` must have shape (m,) with at least one sample and no NaN, got {test.shape}."
        )
    m, n = len(test), len(sample)
    best, ratio_at_best = inf, 1.0
    for threshold in np.nextafter(np.unique(test), -inf):  # from the lowest
        _, errors = sample.counts(float(threshold))
        kept = int(np.count_nonzero(test > threshold))
        if not kept:
            break
        ratio = m / (n + 1) * (1 + errors) / kept
        if ratio <= risk:
            best, ratio_at_best = float(threshold), ratio
            break
    if best == inf:
        raise NoSafeThresholdError(
            f"No threshold keeps the expected share of errors <= {risk:.4g} for this batch of {m} with n={n} "
            "calibration samples. Raise `risk`, or calibrate on more samples."
        )
    accepted, errors = sample.counts(best)
    guarantee = (
        f"among the accepted of this batch of {m} the expected share of errors is at most {risk:.4g}, over "
        f"exchangeable calibration samples ({n}) and batch; it is no promise for another batch."
    )
    return Threshold(best, "conformal_selection", risk, None, n, accepted, errors, ratio_at_best, guarantee)

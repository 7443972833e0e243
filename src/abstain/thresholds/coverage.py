"""Thresholds for a target coverage, or a target rate of in-distribution samples kept."""

from math import ceil, inf

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from abstain.thresholds.calibration import check_target, one_of_each
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold


def target_coverage(
    confidence: ArrayLike,
    /,
    *,
    coverage: float,
    delta: float | None = None,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The threshold that keeps at least ``coverage`` of future samples.

    In expectation over the calibration sample, k = ⌈(n+1)c⌉ of its n samples are kept; with ``delta``, the fewest that
    keep the coverage with probability 1 − δ. No labels are needed. Assumes that future samples are exchangeable with
    the calibration sample (for δ: drawn independently from the same law). One row of each cluster of
    ``ids`` is used. Ties only raise the coverage.

    >>> target_coverage(np.arange(1000.0), coverage=0.8).accepted
    801
    """
    check_target("coverage", coverage)
    c = np.sort(np.asarray(confidence, dtype=np.float64))[::-1]
    if c.ndim != 1 or not c.size or np.isnan(c).any():
        raise ValueError(f"`confidence` must have shape (n,) with at least one sample and no NaN, got {c.shape}.")
    n = len(c)
    if ids is not None:
        c = np.sort(np.asarray(confidence, dtype=np.float64)[one_of_each(ids, n, seed=seed)])[::-1]
        n = len(c)
    if delta is None:
        k = ceil((n + 1) * coverage - 1e-9)
        words = f"at least {coverage:.4g} of future samples are accepted in expectation"
    else:
        check_target("delta", delta)
        kept = np.arange(1, n + 1)
        enough = betaincinv(kept, n + 1 - kept, delta) >= coverage
        k = int(kept[enough][0]) if enough.any() else n + 1
        words = f"at least {coverage:.4g} of future samples are accepted, with probability {1 - delta:.4g}"
    if k > n:
        needed = ceil(coverage / (1 - coverage) - 1e-9) if delta is None else ceil(np.log(delta) / np.log(coverage))
        raise NoSafeThresholdError(
            f"No threshold keeps coverage {coverage} on n={n} calibration samples. Calibrate on at least {needed}."
        )
    if c[k - 1] == -inf:
        raise NoSafeThresholdError(
            f"No threshold keeps coverage {coverage} on n={n} calibration samples, {np.count_nonzero(c == -inf)} of "
            "which are not usable and never accepted. Ask for less, or mend the inputs."
        )
    value = float(np.nextafter(c[k - 1], -inf))
    bound = k / (n + 1) if delta is None else float(betaincinv(k, n + 1 - k, delta))
    accepted = int(np.count_nonzero(c > value))
    guarantee = f"{words}, over samples like the {n} calibration samples."
    return Threshold(value, "target_coverage", coverage, delta, n, accepted, 0.0, bound, guarantee)


def target_tpr(
    conf_in: ArrayLike,
    /,
    *,
    tpr: float = 0.95,
    delta: float | None = None,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The threshold that keeps ``tpr`` of in-distribution samples: the usual rule of out-of-distribution detection.

    It says nothing of the errors among what it keeps.
    """
    found = target_coverage(conf_in, coverage=tpr, delta=delta, ids=ids, seed=seed)
    guarantee = found.guarantee.replace("future samples", "in-distribution samples")
    return Threshold(
        found.value, "target_tpr", tpr, delta, found.n, found.accepted, found.errors, found.bound, guarantee
    )

"""Thresholds for a target coverage, or a target rate of in-distribution samples kept."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from math import ceil

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from abstain._arguments import as_doubles
from abstain._errors import InvalidInputError
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.refusal import NoSafeThresholdError
from abstain.thresholds.sample import RankedSample, Sample, accepting, check_chance, check_target
from abstain.thresholds.threshold import Threshold


def target_coverage(
    confidence: ArrayLike,
    /,
    *,
    coverage: float,
    delta: float | None = None,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The threshold that accepts at least ``coverage`` of future rows; no labels are needed.

    Without ``delta`` the guarantee holds in expectation over the calibration sample, for rows exchangeable with it:
    k = ⌈(n+1)c⌉ of n rows are accepted. With ``delta`` it holds with probability 1 − δ, for rows drawn independently
    from the same distribution. Ties only raise the coverage.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    coverage : float
        The smallest share of rows to accept, between 0 and 1.
    delta : float, optional
        The probability with which the guarantee may fail; by default it holds in expectation.
    ids : (n,) array, optional
        Rows with the same id are one cluster, of which one row is drawn: the guarantee is then about clusters.
    seed : int
        Of the draw of one row from each cluster.

    Returns
    -------
    Threshold
        With its guarantee.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.
    NoSafeThresholdError
        If the sample is too small for that coverage.

    Examples
    --------
    >>> target_coverage(np.arange(1000.0), coverage=0.8).accepted
    801
    """
    c = as_doubles("confidence", confidence)
    if c.ndim != 1 or not c.size or np.isnan(c).any():
        raise InvalidInputError(
            f"`confidence` must have shape (n,) with at least one sample and no NaN, got {c.shape}."
        )
    return keeping_coverage(Sample.of(c, np.zeros(len(c)), ids=ids, seed=seed), coverage, delta)


def keeping_coverage(sample: RankedSample, coverage: float, delta: float | None, /) -> Threshold:
    """The threshold of `target_coverage` on a sample, which may be one of counts."""
    check_target("coverage", coverage)
    if delta is not None:
        check_chance("delta", delta)
    n, ends = len(sample), sample.ends
    needed = rank_for_coverage(n, coverage, delta)
    rank = next((int(end) for end in ends[ends >= needed][:1]), None)
    if rank is None:
        raise _too_few(n, needed, n - int(np.max(ends, initial=0)), coverage, delta)
    guarantee = Guarantee(
        quantity=Quantity.COVERAGE,
        target=coverage,
        bound=needed / (n + 1) if delta is None else float(betaincinv(needed, n + 1 - needed, delta)),
        relation="at least",
        probability=None if delta is None else 1 - delta,
        **sample.population,
    )
    if rank > needed:
        guarantee = guarantee.noting(
            f"{rank - needed:,} more rows than the {needed:,} needed are accepted, because confidences tie"
        )
    return replace(accepting("target_coverage", sample, rank, guarantee), errors=None)


def _too_few(n: int, rank: int, unusable: int, coverage: float, delta: float | None) -> NoSafeThresholdError:
    """The error where no threshold accepts ``rank`` of n rows."""
    words = f"No threshold keeps coverage {coverage} on n={n} calibration samples"
    if rank > n:
        needed = ceil(coverage / (1 - coverage) - 1e-9) if delta is None else ceil(np.log(delta) / np.log(coverage))
        return NoSafeThresholdError(f"{words}. Calibrate on at least {needed}.")
    return NoSafeThresholdError(
        f"{words}, {unusable} of which are not finite and never accepted. Ask for less, or fix the inputs."
    )


def rank_for_coverage(n: int, coverage: float, delta: float | None, /) -> int:
    """How many of n samples to accept to keep the coverage, in expectation or with probability 1 − δ; n + 1 if none."""
    if delta is None:
        return ceil((n + 1) * coverage - 1e-9)
    return bisect_left(range(n), True, key=lambda k: bool(betaincinv(k + 1, n - k, delta) >= coverage)) + 1


def target_tpr(
    conf_in: ArrayLike,
    /,
    *,
    tpr: float = 0.95,
    delta: float | None = None,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The threshold that accepts a share ``tpr`` of in-distribution rows.

    The usual rule of out-of-distribution detection. It guarantees nothing about the errors among the accepted rows.

    Parameters
    ----------
    conf_in : (n,) array
        Confidence of in-distribution rows.
    tpr : float
        The smallest share of them to accept, between 0 and 1.
    delta : float, optional
        The probability with which the guarantee may fail; by default it holds in expectation.
    ids : (n,) array, optional
        Rows with the same id are one cluster, of which one row is drawn: the guarantee is then about clusters.
    seed : int
        Of the draw of one row from each cluster.

    Returns
    -------
    Threshold
        With its guarantee.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.
    NoSafeThresholdError
        If the sample is too small for that rate.

    Examples
    --------
    >>> target_tpr(np.arange(1000.0)).accepted
    951
    """
    threshold = target_coverage(conf_in, coverage=tpr, delta=delta, ids=ids, seed=seed)
    return replace(threshold, method="target_tpr", guarantee=replace(threshold.guarantee, quantity=Quantity.TPR))

"""Thresholds for a target coverage, or a target rate of in-distribution samples kept."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from math import ceil, inf

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from abstain._arguments import as_doubles
from abstain._errors import InvalidInputError
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.refusal import NoSafeThresholdError
from abstain.thresholds.sample import Sample, SampledFrom, check_chance, check_target
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
    check_target("coverage", coverage)
    c = as_doubles("confidence", confidence)
    if c.ndim != 1 or not c.size or np.isnan(c).any():
        raise InvalidInputError(
            f"`confidence` must have shape (n,) with at least one sample and no NaN, got {c.shape}."
        )
    sample = Sample.of(c, np.zeros(len(c)), ids=ids, seed=seed)
    n, ends = len(sample), sample.ends
    if delta is not None:
        check_chance("delta", delta)
    k = rank_for_coverage(n, coverage, delta)
    if not (ends >= k).any():
        raise too_few(n, k, int(np.count_nonzero(sample.confidence == -inf)), coverage, delta)
    rank = int(ends[ends >= k][0])
    guarantee = coverage_guarantee(n, k, coverage, delta, sample.population)
    if rank > k:
        guarantee = guarantee.noting(tied_words(rank, k))
    return Threshold(
        value=sample.below(rank), method="target_coverage", n=n, accepted=rank, errors=None, guarantee=guarantee
    )


def too_few(n: int, rank: int, unusable: int, coverage: float, delta: float | None, /) -> NoSafeThresholdError:
    """The error where no threshold accepts ``rank`` of n rows."""
    words = f"No threshold keeps coverage {coverage} on n={n} calibration samples"
    if rank > n:
        needed = ceil(coverage / (1 - coverage) - 1e-9) if delta is None else ceil(np.log(delta) / np.log(coverage))
        return NoSafeThresholdError(f"{words}. Calibrate on at least {needed}.")
    return NoSafeThresholdError(
        f"{words}, {unusable} of which are not finite and never accepted. Ask for less, or fix the inputs."
    )


def tied_words(rank: int, needed: int, /) -> str:
    """That more rows are accepted than needed, since some have the same confidence."""
    return f"{rank - needed:,} more rows than the {needed:,} needed are accepted, because confidences tie"


def coverage_guarantee(
    n: int, rank: int, coverage: float, delta: float | None, population: SampledFrom, /
) -> Guarantee:
    """What accepting at least ``rank`` of n rows guarantees."""
    return Guarantee(
        quantity=Quantity.COVERAGE,
        target=coverage,
        bound=rank / (n + 1) if delta is None else float(betaincinv(rank, n + 1 - rank, delta)),
        relation="at least",
        probability=None if delta is None else 1 - delta,
        **population,
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

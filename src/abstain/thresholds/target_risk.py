"""The default for a target risk: with clusters or without, on rows all labelled or only the most trusted of them."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from abstain._arguments import as_doubles, check_number, check_share
from abstain._errors import InvalidInputError
from abstain.metrics.checks import check_samples
from abstain.thresholds.betting_sequence import betting
from abstain.thresholds.sample import check_largest, cluster_numbers
from abstain.thresholds.step_down import step_down
from abstain.thresholds.threshold import Threshold


def target_risk(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    largest: int | None = None,
    seed: int = 0,
) -> Threshold:
    """The threshold with selective risk at most ``risk``, with probability 1 − δ over the calibration sample.

    Without ``ids`` rows are independent and `step_down` is the rule. With ``ids`` the guarantee is about clusters
    of at most ``largest`` rows: by `betting`, or by `step_down` where that is one row.

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
        Rows with the same id are one cluster.
    largest : int, optional
        The most rows of a cluster; by default those of the largest here.
    seed : int
        Of the draws of `betting`.

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
    >>> target_risk(1 - u, errors, risk=0.05).method
    'step_down'
    >>> target_risk(1 - u, errors, risk=0.05, ids=np.arange(2000) // 2).method
    'betting'
    """
    if ids is None:
        if largest is not None:
            raise InvalidInputError(
                f"`largest` must come with `ids`, which say what a cluster is, got {largest} without."
            )
        return step_down(confidence, losses, risk=risk, delta=delta, seed=seed)
    if largest is not None:
        check_largest("largest", largest)
    clusters = cluster_numbers(ids, np.size(confidence))
    if max(largest or 1, int(np.bincount(clusters).max(initial=1))) > 1:
        return betting(confidence, losses, risk=risk, delta=delta, ids=clusters, largest=largest, seed=seed)
    return step_down(confidence, losses, risk=risk, delta=delta, ids=clusters, seed=seed)


def label_floor(confidence: ArrayLike, /, *, share: float) -> float:
    """The confidence above which the most trusted ``share`` of unlabelled rows lies: label those rows alone.

    Given this floor, the rows above it are independent draws of the distribution above it. Choose a share somewhat
    larger than the coverage hoped for: nothing below the floor is ever accepted.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    share : float
        Of the rows to label, above 0 and at most 1.

    Returns
    -------
    float
        One of the confidences; −inf for all rows.

    Raises
    ------
    InvalidInputError
        If the share is out of its range, or a confidence is NaN.

    Examples
    --------
    >>> label_floor([0.9, 0.5, 0.7, 0.8], share=0.5)
    0.7
    """
    c = as_doubles("confidence", confidence)
    check_samples(c, np.zeros(c.shape))
    check_share("share", share)
    kept = ceil(share * len(c) - 1e-9)
    return float(np.sort(c)[::-1][kept]) if kept < len(c) else -np.inf


def labelled_above(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    floor: float,
    risk: float,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    largest: int | None = None,
    seed: int = 0,
) -> Threshold:
    """The threshold of `target_risk` where only rows above a floor have labels.

    P(selective risk ≤ ``risk``) ≥ 1 − δ over the calibration sample, as with all rows labelled. Rows below the
    floor count as errors, which changes the risk of no threshold above it. The floor may be `label_floor` of these
    rows or others, or a number known beforehand; it must not depend on losses.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1; at or below the floor they may be anything, NaN included.
    floor : float
        Confidence above which every row has its loss.
    risk : float
        The largest selective risk allowed, between 0 and 1.
    delta : float
        The probability with which the guarantee may fail, at most 0.5.
    ids : (n,) array, optional
        Rows with the same id are one cluster.
    largest : int, optional
        The most rows of a cluster; by default those of the largest here.
    seed : int
        Of the draws of `betting`.

    Returns
    -------
    Threshold
        At or above the floor.

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
    >>> floor = label_floor(1 - u, share=0.6)
    >>> labelled_above(1 - u, np.where(1 - u > floor, errors, np.nan), floor=floor, risk=0.05).value >= floor
    True
    """
    check_number("floor", floor)
    if floor != floor:
        raise InvalidInputError("`floor` must be a confidence, got NaN.")
    c, e = as_doubles("confidence", confidence), as_doubles("losses", losses)
    above = c > floor
    if not above.any():
        raise InvalidInputError(
            f"`floor` must be below the highest confidence, got {floor:g}. Label rows above a lower one."
        )
    kept, losses = np.where(above | np.isnan(c), c, -np.inf), np.where(above, e, 1.0)
    threshold = target_risk(kept, losses, risk=risk, delta=delta, ids=ids, largest=largest, seed=seed)
    words = (
        f"of {len(c):,} rows only the labels of the {np.count_nonzero(above):,} with confidence above {floor:.6g} count"
    )
    return replace(threshold, value=max(threshold.value, floor), guarantee=threshold.guarantee.noting(words))

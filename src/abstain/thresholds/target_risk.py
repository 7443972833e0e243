"""The default for a target risk: with clusters or without, on rows all labelled or only the most trusted of them."""

from dataclasses import replace
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from abstain._arguments import as_doubles, check_number
from abstain._errors import InvalidInputError
from abstain.metrics.checks import check_samples
from abstain.thresholds.betting_sequence import betting
from abstain.thresholds.sample import check_largest, cluster_numbers, clusters_like
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
    """The threshold with selective risk at most ``risk`` in the distribution of rows, with probability 1 − δ.

    Without ``ids`` rows are independent, and `step_down` is the rule. With ``ids``, which name clusters, the guarantee
    is about clusters of at most ``largest`` rows, by default as many as the largest here has: by `betting`, or by
    `step_down` where that is a single row.
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
    threshold = step_down(confidence, losses, risk=risk, delta=delta, seed=seed)
    guarantee = replace(threshold.guarantee, distribution=clusters_like(len(clusters), 1), largest=1)
    return replace(threshold, guarantee=guarantee)


def label_floor(confidence: ArrayLike, /, *, share: float) -> float:
    """The confidence above which the most trusted ``share`` of unlabelled rows lies: label those rows alone.

    Given this floor, which is one of their confidences, the rows above it are independent draws of the distribution
    above it. Choose a share somewhat larger than the coverage hoped for: nothing below the floor is ever accepted.

    >>> label_floor([0.9, 0.5, 0.7, 0.8], share=0.5)
    0.7
    """
    check_number("share", share)
    c = as_doubles("confidence", confidence)
    check_samples(c, np.zeros(c.shape))
    if not 0 < share <= 1:
        raise InvalidInputError(f"`share` must be above 0 and at most 1, got {share}.")
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
    """The threshold of `target_risk`, at or above a ``floor`` fixed before any label; losses below it do not count.

    P(selective risk ≤ ``risk``) ≥ 1 − δ over the calibration sample, as with all rows labelled, and as much is
    certified as long as it lies above the floor: rows below it count as errors, which changes the risk of no threshold
    above it. The floor may be a number known beforehand, or `label_floor` of these rows or others, but must not depend
    on losses.

    Parameters
    ----------
    confidence, losses
        (n,) of all rows; at or below the floor a loss may be anything, NaN included.
    floor
        Confidence above which every row has its loss.
    risk, delta, ids, largest, seed
        As of `target_risk`.

    >>> rng = np.random.default_rng(0)
    >>> u = rng.random(2000)
    >>> floor = label_floor(1 - u, share=0.6)
    >>> losses = np.where(1 - u > floor, rng.random(2000) < 0.2 * u**2, np.nan)
    >>> threshold = labelled_above(1 - u, losses, floor=floor, risk=0.05)
    >>> threshold.n, threshold.value >= floor
    (2000, True)
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
    threshold = target_risk(c, np.where(above, e, 1.0), risk=risk, delta=delta, ids=ids, largest=largest, seed=seed)
    words = (
        f"of {len(c):,} rows only the labels of the {np.count_nonzero(above):,} with confidence above {floor:.6g} count"
    )
    return replace(threshold, value=max(threshold.value, floor), guarantee=threshold.guarantee.noting(words))

"""`target_review`: at most a share of rows is rejected, and what the threshold leaves is bounded."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from abstain._bisection import first_number
from abstain.thresholds.binomial import hoeffding_bentkus_p, upper_bound
from abstain.thresholds.coverage import keeping_coverage, rank_for_coverage, target_coverage
from abstain.thresholds.guarantee import Quantity
from abstain.thresholds.risk import RISKS, certified
from abstain.thresholds.sample import Sample, check_chance, check_target
from abstain.thresholds.step_down import SafeRanks
from abstain.thresholds.threshold import CLOSE, Threshold

REVIEW_SHARE = 0.5  # of δ, the rest is for the risk
TIE_SHARE = 0.1  # of that rest, for samples in which the cut falls into a tie


def target_review(
    confidence: ArrayLike,
    losses: ArrayLike | None = None,
    /,
    *,
    review: float,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The threshold that rejects at most ``review`` of the rows, with a bound on the risk that this leaves.

    Both hold together with probability 1 − δ. The rank of the threshold depends on n, ``review`` and δ alone. So,
    given the first rejected confidence, the accepted rows are independent draws of all that are above it, and the
    bound of Clopper and Pearson is exact. Where confidences tie there, it is one of a few risks.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    losses : (n,) array, optional
        Errors (bool), or losses from 0 to 1; without them the risk has no bound.
    review : float
        The largest share of rows to reject, between 0 and 1.
    delta : float
        The probability with which the guarantee may fail, at most 0.5.
    ids : (n,) array, optional
        Rows with the same id are one cluster, of which one row is drawn: the guarantee is then about clusters.
    seed : int
        Of the draw of one row from each cluster.

    Returns
    -------
    Threshold
        Its guarantee is about the share rejected, the one in ``further`` about the risk.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.
    NoSafeThresholdError
        If the sample is too small for that share.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> u = rng.random(2000)
    >>> threshold = target_review(1 - u, rng.random(2000) < 0.3 * u**2, review=0.2)
    >>> threshold.n - threshold.accepted <= 400, round(threshold.further[0].certified, 3)
    (True, 0.08)
    """
    check_target("review", review)
    check_chance("delta", delta)
    if losses is None:
        return _rejecting(target_coverage(confidence, coverage=1 - review, delta=delta, ids=ids, seed=seed), review)
    sample = Sample.of(confidence, losses, ids=ids, seed=seed)
    part = REVIEW_SHARE * delta
    coverage = keeping_coverage(sample, 1 - review, part)
    rank = rank_for_coverage(len(sample), 1 - review, part)
    risk = _below_tie if coverage.accepted > rank else _at_rank
    return _rejecting(risk(sample, rank, coverage, delta - part), review, probability=1 - delta)


def _at_rank(sample: Sample, rank: int, coverage: Threshold, delta: float) -> Threshold:
    """The bound of the rows above the first that is rejected, just above which the threshold is put."""
    total = float(sample.totals[rank - 1])
    level = (1 - TIE_SHARE) * delta
    bound = upper_bound(int(total), rank, level) if sample.are_errors else _lowest_rejected(total / rank, rank, level)
    following = float(sample.confidence[rank]) if rank < len(sample) else -inf
    threshold = certified("target_review", sample, rank, risk=bound, delta=delta)
    guarantee = replace(threshold.guarantee, target=None, bound=bound)
    return replace(threshold, value=_just_above(following), guarantee=coverage.guarantee, further=(guarantee,))


def _just_above(value: float) -> float:
    """The lowest threshold above a confidence by more than rounding; what is nearer counts as tied with it."""
    if value == -inf or not value:
        return value
    return value / (1 - CLOSE) if value > 0 else value / (1 + CLOSE)


def _lowest_rejected(mean: float, n: int, level: float) -> float:
    """Upper bound for the expected loss by the p-value of Hoeffding and Bentkus; 1 where it rejects none."""
    return first_number(lambda loss: hoeffding_bentkus_p(mean, n, loss) <= level, mean, 1.0, within=1e-9)


def _below_tie(sample: Sample, rank: int, coverage: Threshold, delta: float) -> Threshold:
    """The lowest of a few risks that `step_down` certifies from the rank on; none of them may be."""
    level = TIE_SHARE * delta / len(RISKS)
    for risk in RISKS:
        safe = SafeRanks.of(sample, risk, level, first=rank)
        if safe.largest:
            threshold = safe.threshold("target_review", safe.largest, risk=risk, delta=delta)
            guarantee = replace(threshold.guarantee, target=None, bound=risk)
            return replace(threshold, guarantee=coverage.guarantee, further=(guarantee,))
    words = f"no risk up to {RISKS[-1]:g} is certified for what is accepted, as confidences tie where the cut falls"
    errors = float(np.sum(sample.losses[: coverage.accepted]))
    return replace(coverage, method="target_review", errors=errors, guarantee=coverage.guarantee.noting(words))


def _rejecting(threshold: Threshold, review: float, *, probability: float | None = None) -> Threshold:
    """The threshold, whose guarantee is about the share rejected instead of the share accepted."""
    covers = threshold.guarantee
    assert covers.bound is not None
    rejects = replace(
        covers,
        quantity=Quantity.REVIEW,
        target=review,
        bound=1 - covers.bound,
        relation="at most",
        probability=probability or covers.probability,
    )
    further = tuple(replace(each, probability=rejects.probability) for each in threshold.further)
    return replace(threshold, method="target_review", guarantee=rejects, further=further)

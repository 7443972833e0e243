"""How sure an AURC is: its standard error and a confidence interval that allows for errors not seen."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from abstain._arguments import check_list, check_share
from abstain._errors import InvalidInputError
from abstain.metrics.checks import check_samples
from abstain.metrics.estimates import Estimate, estimates
from abstain.metrics.groups import sides_of
from abstain.metrics.ranking import ranked

ALPHAS = (0.1, 0.5, 1.0)  # the coverages of AURC-α where none are asked for, as in the paper


def check_alphas(alphas: Sequence[float], /) -> None:
    """At least one coverage, each above 0 and at most 1."""
    check_list("alphas", alphas, "coverages")
    for alpha in alphas:
        check_share("alpha", alpha)
    if not len(alphas):
        raise InvalidInputError("`alphas` must name at least one coverage, got none.")


def aurc_se(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    alpha: float = 1.0,
    weights: ArrayLike | None = None,
    ids: ArrayLike | None = None,
) -> float:
    """Standard error of AURC-α by its influence function; samples with the same ``ids`` are one cluster.

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted; tied samples are accepted together.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    alpha : float
        The largest coverage that counts, above 0 and at most 1.
    weights : (n,) array, optional
        Positive weights of the samples.
    ids : (n,) array, optional
        Samples with the same id are one cluster, counted once in standard errors.

    Returns
    -------
    float

    Examples
    --------
    >>> s = [0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]
    >>> round(aurc_se(s, [0, 0, 1, 0, 0, 1, 0, 1, 1, 1]), 10)
    0.1441289951
    """
    return aurc_estimates(confidence, losses, alphas=[alpha], weights=weights, ids=ids)[0].se


def aurc_interval(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    alpha: float = 1.0,
    ids: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[float, float]:
    """Two-sided confidence interval of AURC-α.

    It follows from the variance and skewness of the influence function, and allows for errors that the sample does not
    show: up to three expected at 95%, spread over the most trusted fifth of the samples or more
    (`abstain.metrics.spread`). With many errors near the top it is the normal interval. Rare errors among the most
    trusted tenth or hundredth alone may be missed more often than the level allows.

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted; tied samples are accepted together.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    alpha : float
        The largest coverage that counts, above 0 and at most 1.
    ids : (n,) array, optional
        Samples with the same id are one cluster, counted once in standard errors.
    level : float
        Of the interval.

    Returns
    -------
    (float, float)
        Low and high.
    """
    estimate = aurc_estimates(confidence, losses, alphas=[alpha], ids=ids, level=level)[0]
    return estimate.low, estimate.high


def aurc_estimates(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    alphas: Sequence[float] = ALPHAS,
    weights: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    level: float = 0.95,
) -> list[Estimate]:
    """AURC-α for several α with standard errors and intervals, in one pass over the samples.

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted; tied samples are accepted together.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    alphas : sequence of float
        The largest coverages that count, each above 0 and at most 1.
    weights : (n,) array, optional
        Positive weights of the samples.
    ids : (n,) array, optional
        Samples with the same id are one cluster, counted once in standard errors.
    level : float
        Of the interval.

    Returns
    -------
    list of Estimate
        One for each α, with value, standard error and interval.

    Examples
    --------
    >>> [round(estimate.value, 4) for estimate in aurc_estimates([0.9, 0.8, 0.7, 0.6], [0, 1, 0, 1], alphas=[0.5, 1.0])]
    [0.25, 0.3333]
    """
    samples = check_samples(confidence, losses, weights)
    ties = sides_of(samples) if ids is None else None
    return estimates(ties or ranked(samples, ids), alphas=alphas, level=level)

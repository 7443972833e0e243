"""AURC compared with that of the best possible ranking."""

from __future__ import annotations

from math import log
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._errors import InvalidInputError
from abstain._names import check_name
from abstain.metrics.aurc import area
from abstain.metrics.checks import CheckedSamples, check_samples
from abstain.metrics.clusters import standard_error
from abstain.metrics.groups import Ties, ties_of
from abstain.metrics.influence import Value, aurc_influence
from abstain.metrics.metric import Metric
from abstain.metrics.ranking import Ranking

Convention = Literal["mean", "fd_shifts"]


def excess_aurc(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    alpha: float = 1.0,
    weights: ArrayLike | None = None,
    convention: Convention = "mean",
) -> float:
    """AURC-α minus that of the oracle, which ranks by the loss itself (E-AURC).

    0 is perfect. The oracle is that of the same finite sample, so it is never negative. Weights need α = 1. With
    ``convention="fd_shifts"`` it is what that code prints, a thousandth of it: its AURC less r + (1 − r) ln(1 − r), the
    oracle of infinitely many samples with the error rate r, so that it may be negative. (Geifman et al., 2019)

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
    convention : str
        Which published definition; see above.

    Returns
    -------
    float
        0 is perfect.

    Examples
    --------
    >>> excess_aurc([0.9, 0.8, 0.1], [0, 0, 1])
    0.0
    """
    check_name("convention", convention, get_args(Convention))
    samples = _check(confidence, losses, weights, alpha)
    ties = ties_of(samples)
    value = area(ties, alpha=alpha, convention=convention)
    return value - (
        _fd_shifts_oracle(samples)
        if convention == "fd_shifts"
        else area(oracle(samples.losses, samples.weights), alpha=alpha)
    )


def normalized_aurc(
    confidence: ArrayLike, losses: ArrayLike, /, *, alpha: float = 1.0, weights: ArrayLike | None = None
) -> float:
    """Excess AURC-α over that of a random ranking (N-AURC): 0 is the oracle, 1 a random score.

    Undefined, so an error, where all losses are the same and every ranking is as good. (Cattelan & Silva, 2024)

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

    Returns
    -------
    float
        0 is the oracle, 1 a random score.

    Examples
    --------
    >>> normalized_aurc([0.1, 0.8, 0.9], [0, 0, 1]) > 1
    True
    """
    samples = _check(confidence, losses, weights, alpha)
    if samples.losses.min() == samples.losses.max():
        raise InvalidInputError(
            f"`losses` must differ between samples for a normalized AURC, got {samples.losses[0]:g} for all. "
            "Every ranking has the same AURC here."
        )
    ties = ties_of(samples)
    least = area(oracle(samples.losses, samples.weights), alpha=alpha)
    return (area(ties, alpha=alpha) - least) / (ties.risk - least)


def excess_value(ranking: Ranking, alpha: float, /) -> Value:
    """E-AURC-α of a ranking, with its standard error for losses of 0 and 1.

    There the oracle depends on the risk r alone, with slope (1/α) ln(α/(1 − r)) where it has errors within α.
    """
    groups, rows = ranking.groups, ranking.rows
    if not groups.is_counted:
        return Value(excess_aurc(groups.confidence[ranking.group], rows.losses, alpha=alpha, weights=rows.weights))
    value = area(groups, alpha=alpha) - area(oracle(rows.given_losses), alpha=alpha)
    right = 1 - groups.risk
    slope = log(alpha / right) / alpha if 0 < right < alpha else 0.0
    centred = aurc_influence(ranking, alpha=alpha).centred - slope * (rows.losses - groups.risk)
    return Value(value, standard_error(centred, rows.clusters))


def oracle(losses: NDArray[Any], weights: NDArray[np.float64] | None = None, /) -> Ties:
    """The best possible ranking of samples with these losses: by the losses themselves."""
    return ties_of(CheckedSamples(-losses.astype(np.float64), losses, weights))


def _check(confidence: ArrayLike, losses: ArrayLike, weights: ArrayLike | None, alpha: float) -> CheckedSamples:
    if weights is not None and alpha != 1:
        raise InvalidInputError(
            f"`alpha` must be 1 with weights, got {alpha}: the first rows of two rankings differ in weight there."
        )
    return check_samples(confidence, losses, weights)


def _fd_shifts_oracle(samples: CheckedSamples) -> float:
    """The formula for errors of 0 and 1; for other losses that code's AURC of a ranking by loss, ties broken."""
    losses = np.sort(samples.losses.astype(np.float64))
    r = float(losses.mean())
    if ((losses == 0) | (losses == 1)).all():
        return 1.0 if r == 1 else r + (1 - r) * log(1 - r)
    return area(ties_of(check_samples(-np.arange(len(losses)), losses)), convention="fd_shifts")


ENTRIES = (Metric("excess_aurc", "E-AURC-α", "Excess AURC, coverages up to {}", "small", excess_value, (), "alpha"),)

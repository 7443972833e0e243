"""The metrics of language-model uncertainty: prediction–rejection ratio, AUARC and accuracy at coverage."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import check_share
from abstain._errors import InvalidInputError
from abstain.metrics.aurc import area, aurc
from abstain.metrics.checks import check_samples
from abstain.metrics.estimates import aurc_value
from abstain.metrics.excess_aurc import oracle
from abstain.metrics.groups import Ties, ties_of
from abstain.metrics.influence import Value
from abstain.metrics.metric import Metric
from abstain.metrics.operating_points import risk_at, risk_at_coverage
from abstain.metrics.ranking import Ranking


def prediction_rejection_ratio(confidence: ArrayLike, losses: ArrayLike, /, *, max_rejection: float = 1.0) -> float:
    """How much of what an oracle gains over a random ranking by rejecting, this ranking gains (PRR).

    The area between the curve and that of a random ranking, over the same for the oracle, while up to ``max_rejection``
    of the samples are rejected: 1 is the oracle, 0 a random score, below 0 is worse than random. Ties count in exact
    expectation over their orders, and so does the random ranking. With ``max_rejection=1`` it is 1 − N-AURC.
    (Malinin et al., 2017; Vashurin et al., 2025)

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1: one minus the quality of the answer.
    max_rejection : float
        The largest share of samples that is rejected, above 0 and at most 1.

    Returns
    -------
    float
        At most 1.

    Examples
    --------
    >>> prediction_rejection_ratio([0.9, 0.8, 0.1], [0, 0, 1])
    1.0
    """
    check_share("max_rejection", max_rejection)
    samples = check_samples(confidence, losses)
    values = samples.losses.astype(np.float64)
    rejected = int(max_rejection * len(values))
    if values.min() == values.max():
        raise InvalidInputError(f"`losses` must differ between samples for a ratio, got {values[0]:g} for all.")
    if rejected < 2:
        raise InvalidInputError(
            f"`max_rejection` must reject at least 2 samples, got {max_rejection}, which rejects {rejected} of "
            f"{len(values)}. Reject a larger share."
        )
    least = _rejection_area(oracle(values), rejected, len(values))
    random = float(values.mean())
    return (random - _rejection_area(ties_of(samples), rejected, len(values))) / (random - least)


def auarc(confidence: ArrayLike, losses: ArrayLike, /) -> float:
    """Area under the accuracy–rejection curve, 1 − AURC: the mean accuracy over all numbers of accepted samples.

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted; ties count in exact expectation over their orders.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.

    Returns
    -------
    float
        Large is good; a random score has the overall accuracy. (Nadeem et al., 2009)

    Examples
    --------
    >>> auarc([0.9, 0.8], [0, 1])
    0.75
    """
    return 1 - aurc(confidence, losses)


def accuracy_at_coverage(confidence: ArrayLike, losses: ArrayLike, /, *, coverage: float) -> float:
    """Accuracy of the fewest most trusted samples that make up ``coverage``: 1 − `risk_at_coverage`.

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted; ties count in exact expectation over their orders.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    coverage : float
        The share of samples to accept, above 0 and at most 1.

    Returns
    -------
    float

    Examples
    --------
    >>> accuracy_at_coverage([0.9, 0.8, 0.8, 0.1], [0, 1, 0, 1], coverage=0.5)
    0.75
    """
    return 1 - risk_at_coverage(confidence, losses, coverage=coverage)


def ratio_value(ranking: Ranking, max_rejection: float, /) -> Value:
    """PRR of a ranking."""
    confidence: NDArray[np.float64] = ranking.groups.confidence[ranking.group]
    return Value(prediction_rejection_ratio(confidence, ranking.rows.losses, max_rejection=max_rejection))


def auarc_value(ranking: Ranking, _: float, /) -> Value:
    """AUARC of a ranking, with the standard error of its AURC."""
    value = aurc_value(ranking, 1.0)
    return Value(1 - value.value, value.se)


def _rejection_area(ties: Ties, rejected: int, n: int) -> float:
    """The mean risk over n − rejected + 1 to n accepted samples."""
    kept = n - rejected
    total = n * area(ties)
    return (total - kept * area(ties, alpha=(kept + 0.5) / n) if kept else total) / rejected


def accuracy_value(ranking: Ranking, coverage: float, /) -> Value:
    """Accuracy at a coverage of a ranking."""
    return Value(1 - risk_at(ranking.groups, coverage))


PRR = "Prediction rejection ratio, rejecting up to {}"
ENTRIES = (
    Metric("prr", "PRR", PRR, "large", ratio_value, ("unweighted", "varied"), "max_rejection"),
    Metric("auarc", "AUARC", "Area under the accuracy–rejection curve", "large", auarc_value),
    Metric("accuracy_at_coverage", "A(c)", "Accuracy at coverage {}", "large", accuracy_value, (), "coverage", 0.8),
)

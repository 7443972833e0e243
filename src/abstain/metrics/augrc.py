"""The area under the generalized risk–coverage curve."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from abstain._errors import InvalidInputError
from abstain._kernels.areas import expected_risks
from abstain._names import check_name
from abstain.metrics.clusters import standard_error
from abstain.metrics.groups import Groups, group
from abstain.metrics.influence import Value, area_value, augrc_influence
from abstain.metrics.metric import Metric
from abstain.metrics.ranking import Ranking, rank

Convention = Literal["integral", "torch_uncertainty"]


def augrc(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    weights: ArrayLike | None = None,
    convention: Convention = "integral",
) -> float:
    r"""Mean over coverage of the risk of an accepted error, :math:`\int P(\text{accepted and wrong})\,dc` (AUGRC).

    It is ½r² + (1 − AUROC)·r(1 − r) for 0/1 losses, and weighs errors evenly, where AURC stresses the first ranks.
    With ``convention="torch_uncertainty"`` it is what that library prints: the trapezoids from k = 1 on over 1 − 1/n.
    (Traub et al., 2024)

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted; tied samples are accepted together.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    weights : (n,) array, optional
        Positive weights of the samples.
    convention : str
        Which published definition; see above.

    Returns
    -------
    float
        Small is good.

    Examples
    --------
    >>> augrc([0.9, 0.8, 0.8, 0.1], [0, 1, 0, 1])
    0.15625
    """
    check_name("convention", convention, get_args(Convention))
    groups = group(confidence, losses, weights=weights)
    return _torch_uncertainty(groups) if convention == "torch_uncertainty" else generalized_area(groups)


def generalized_area(groups: Groups, /) -> float:
    """AUGRC of groups."""
    before = np.cumsum(groups.losses) - groups.losses
    return float((groups.weights * (before + groups.losses / 2)).sum() / groups.weights.sum() ** 2)


def _torch_uncertainty(groups: Groups) -> float:
    n = groups.n
    if (groups.weights != groups.counts).any():
        raise InvalidInputError(
            "`weights` must be left out for convention 'torch_uncertainty', got some. Use 'integral'."
        )
    if n < 2:
        raise InvalidInputError("`confidence` must have at least 2 samples for convention 'torch_uncertainty', got 1.")
    errors = expected_risks(groups.counts, groups.weights, groups.losses) * np.arange(1, n + 1)
    return float(np.trapezoid(errors) / (n * (n - 1)))


def augrc_se(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    weights: ArrayLike | None = None,
    ids: ArrayLike | None = None,
) -> float:
    """Standard error of AUGRC by its influence function; samples with the same ``ids`` are one cluster.

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted; tied samples are accepted together.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    weights : (n,) array, optional
        Positive weights of the samples.
    ids : (n,) array, optional
        Samples with the same id are one cluster, counted once in standard errors.

    Returns
    -------
    float
    """
    ranking = rank(confidence, losses, weights=weights, ids=ids)
    return standard_error(augrc_influence(ranking).centred, ranking.rows.clusters)


def augrc_value(ranking: Ranking, /) -> Value:
    """AUGRC of a ranking with its standard error."""
    return area_value(generalized_area(ranking.groups), augrc_influence(ranking))


ENTRIES = (Metric("augrc", "AUGRC", "AUGRC", "small", lambda ranking, _: augrc_value(ranking)),)

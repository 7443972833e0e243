"""The area under the generalized risk–coverage curve."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from abstain.kernels.areas import expected_risks
from abstain.metrics.clusters import standard_error
from abstain.metrics.influence import augrc_influence
from abstain.metrics.ranking import Ranking, rank
from abstain.names import check_name

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

    >>> augrc([0.9, 0.8, 0.8, 0.1], [0, 1, 0, 1])
    0.15625
    """
    check_name("convention", convention, get_args(Convention))
    ranking = rank(confidence, losses, weights=weights)
    if convention == "torch_uncertainty":
        return _torch_uncertainty(ranking)
    before = np.cumsum(ranking.losses) - ranking.losses
    return float((ranking.weights * (before + ranking.losses / 2)).sum() / ranking.weights.sum() ** 2)


def _torch_uncertainty(ranking: Ranking) -> float:
    if (ranking.row_weights != 1).any():
        raise ValueError("`weights` must be left out for convention 'torch_uncertainty', got some. Use 'integral'.")
    if ranking.n < 2:
        raise ValueError("`confidence` must have at least 2 samples for convention 'torch_uncertainty', got 1.")
    errors = expected_risks(ranking.counts, ranking.weights, ranking.losses) * np.arange(1, ranking.n + 1)
    return float(np.trapezoid(errors) / (ranking.n * (ranking.n - 1)))


def augrc_se(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    weights: ArrayLike | None = None,
    ids: ArrayLike | None = None,
) -> float:
    """Standard error of AUGRC by its influence function; samples with the same ``ids`` are one cluster."""
    return standard_error(augrc_influence(rank(confidence, losses, weights=weights)).centred, ids)

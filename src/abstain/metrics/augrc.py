"""The area under the generalized risk–coverage curve."""

import numpy as np
from numpy.typing import ArrayLike

from abstain.metrics.clusters import standard_error
from abstain.metrics.influence import augrc_influence
from abstain.metrics.ranking import rank


def augrc(confidence: ArrayLike, losses: ArrayLike, /, *, weights: ArrayLike | None = None) -> float:
    r"""Mean over coverage of the risk of an accepted error, :math:`\int P(\text{accepted and wrong})\,dc` (AUGRC).

    It is ½r² + (1 − AUROC)·r(1 − r) for 0/1 losses, and weighs errors evenly, where AURC stresses the first ranks.
    (Traub et al., 2024)

    >>> augrc([0.9, 0.8, 0.8, 0.1], [0, 1, 0, 1])
    0.15625
    """
    ranking = rank(confidence, losses, weights=weights)
    before = np.cumsum(ranking.losses) - ranking.losses
    return float((ranking.weights * (before + ranking.losses / 2)).sum() / ranking.weights.sum() ** 2)


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

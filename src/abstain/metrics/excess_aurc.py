"""AURC beside that of the best possible ranking."""

from math import log
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from abstain.metrics.aurc import area
from abstain.metrics.ranking import Ranking, rank
from abstain.names import check_name

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

    >>> excess_aurc([0.9, 0.8, 0.1], [0, 0, 1])
    0.0
    """
    check_name("convention", convention, get_args(Convention))
    _check(alpha, weights)
    ranking = rank(confidence, losses, weights=weights)
    found = area(ranking, alpha=alpha, convention=convention)
    return found - (_fd_shifts_oracle(ranking) if convention == "fd_shifts" else area(_oracle(ranking), alpha=alpha))


def normalized_aurc(
    confidence: ArrayLike, losses: ArrayLike, /, *, alpha: float = 1.0, weights: ArrayLike | None = None
) -> float:
    """Excess AURC-α over that of a random ranking (N-AURC): 0 is the oracle, 1 a random score.

    Undefined, so an error, where all losses are the same and every ranking is as good. (Cattelan & Silva, 2024)

    >>> normalized_aurc([0.1, 0.8, 0.9], [0, 0, 1]) > 1
    True
    """
    _check(alpha, weights)
    ranking = rank(confidence, losses, weights=weights)
    if np.unique(ranking.row_losses).size == 1:
        raise ValueError(
            f"`losses` must differ between samples for a normalized AURC, got {ranking.row_losses[0]:g} for all. "
            "Every ranking has the same AURC here."
        )
    oracle = area(_oracle(ranking), alpha=alpha)
    return (area(ranking, alpha=alpha) - oracle) / (ranking.risk - oracle)


def _check(alpha: float, weights: ArrayLike | None) -> None:
    if weights is not None and alpha != 1:
        raise ValueError(
            f"`alpha` must be 1 with weights, got {alpha}: the first rows of two rankings differ in weight there."
        )


def _fd_shifts_oracle(ranking: Ranking) -> float:
    """The formula for errors of 0 and 1; for other losses that code's AURC of a ranking by loss, ties broken."""
    losses, r = np.sort(ranking.row_losses), ranking.risk
    if ((losses == 0) | (losses == 1)).all():
        return 1.0 if r == 1 else r + (1 - r) * log(1 - r)
    return area(rank(-np.arange(ranking.n), losses), convention="fd_shifts")


def _oracle(ranking: Ranking) -> Ranking:
    return rank(-ranking.row_losses, ranking.row_losses, weights=ranking.row_weights)

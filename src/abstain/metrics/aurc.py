"""The area under the risk–coverage curve."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from abstain.kernels.areas import expected_risks, partial_area
from abstain.metrics.ranking import Ranking, check_share, rank
from abstain.names import check_name

Convention = Literal["mean", "continuous", "trapezoid", "torch_uncertainty", "fd_shifts", "paper_code"]


def aurc(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    alpha: float = 1.0,
    weights: ArrayLike | None = None,
    convention: Convention = "mean",
) -> float:
    r"""Normalized area under the risk–coverage curve, :math:`\frac1m\sum_{k\le m} R_k` with m = ⌊αn⌋ (AURC-α).

    Ties count in exact expectation over their orders, so the order of the rows never matters. Small values are
    good; a random score has the overall risk. The other conventions are those of published code: the ``continuous``
    integral, ``trapezoid`` from k = 1, ``torch_uncertainty`` (that over 1 − 1/n), ``fd_shifts`` (trapezoid over the
    distinct thresholds from coverage 0), and ``paper_code`` (E_k/(k+1) for k < n). Only ``mean`` and ``paper_code``
    know α.

    >>> aurc([0.9, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.4, 0.2, 0.1], [0, 1, 0, 0, 1, 0, 1, 0, 1, 1])
    0.33035714285714285
    """
    return area(rank(confidence, losses, weights=weights), alpha=alpha, convention=convention)


def area(ranking: Ranking, /, *, alpha: float = 1.0, convention: Convention = "mean") -> float:
    """AURC-α of a ranking."""
    check_share("alpha", alpha)
    if convention == "mean":
        return float(partial_area(ranking.counts, ranking.weights, ranking.losses, ranking.prefix(alpha)))
    check_name("convention", convention, get_args(Convention))
    if alpha != 1 and convention != "paper_code":
        raise ValueError(
            f"`alpha` must be 1 for convention {convention!r}, got {alpha}. Use 'mean' for a partial area."
        )
    if convention == "continuous":
        return _continuous(ranking)
    if (ranking.row_weights != 1).any():
        raise ValueError(f"`weights` must be left out for convention {convention!r}, got some. Use 'mean'.")
    if convention == "fd_shifts":
        coverage = np.cumsum(ranking.counts) / ranking.n
        risk = np.cumsum(ranking.losses) / np.cumsum(ranking.counts)
        return float(np.trapezoid(np.r_[risk[0], risk], np.r_[0.0, coverage]))
    risks = expected_risks(ranking.counts, ranking.weights, ranking.losses)
    if convention == "paper_code":
        return _paper_code(risks, alpha)
    trapezoid = float(np.trapezoid(risks) / ranking.n)
    if convention == "trapezoid":
        return trapezoid
    if ranking.n < 2:
        raise ValueError("`confidence` must have at least 2 samples for convention 'torch_uncertainty', got 1.")
    return trapezoid / (1 - 1 / ranking.n)


def _continuous(ranking: Ranking) -> float:
    """(1/W) Σ_g [e_g + (E − e_g W_a/W_g) ln(W_b/W_a)]: the integral of the curve with ties spread evenly."""
    ends, losses_so_far = np.cumsum(ranking.weights), np.cumsum(ranking.losses)
    start, before = ends[:-1], losses_so_far[:-1]
    slope = before - ranking.losses[1:] * start / ranking.weights[1:]
    return float((ranking.losses.sum() + (slope * np.log(ends[1:] / start)).sum()) / ends[-1])


def _paper_code(risks: np.ndarray, alpha: float) -> float:
    """Mean of the int(αn) first points of E_k/(k+1) (E_n/n at the end); none means all, as a slice from −0 does."""
    n = len(risks)
    k = np.arange(1, n + 1)
    shown = np.where(k < n, risks * k / (k + 1), risks)
    return float(shown[: int(alpha * n) or n].mean())

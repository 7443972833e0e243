"""The area under the risk–coverage curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from abstain._arguments import check_share
from abstain._errors import InvalidInputError
from abstain._kernels.areas import expected_risks, partial_area
from abstain._names import check_name
from abstain.metrics.checks import check_samples
from abstain.metrics.groups import Groups, Ties, ties_of

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
        Small is good; a random score has the overall risk.

    Examples
    --------
    >>> aurc([0.9, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.4, 0.2, 0.1], [0, 1, 0, 0, 1, 0, 1, 0, 1, 1])
    0.33035714285714285
    """
    return area(ties_of(check_samples(confidence, losses, weights)), alpha=alpha, convention=convention)


def area_name(alpha: float, /) -> str:
    """AURC, or AURC-α where that is less than all of it."""
    return "AURC" if alpha == 1 else f"AURC-{alpha:g}"


def area(ties: Ties, /, *, alpha: float = 1.0, convention: Convention = "mean") -> float:
    """AURC-α of samples that are sorted or grouped."""
    check_share("alpha", alpha)
    check_name("convention", convention, get_args(Convention))
    if alpha != 1 and convention not in ("mean", "paper_code"):
        raise InvalidInputError(
            f"`alpha` must be 1 for convention {convention!r}, got {alpha}. Use 'mean' for a partial area."
        )
    if convention == "mean" and ties.is_counted:
        m = ties.prefix(alpha)
        return ties.error_areas(np.array([m]))[0].risks / m
    groups = ties.groups()
    if convention == "mean":
        return float(partial_area(groups.counts, groups.weights, groups.losses, groups.prefix(alpha)))
    if convention == "continuous":
        return _continuous(groups)
    if (groups.weights != groups.counts).any():
        raise InvalidInputError(f"`weights` must be left out for convention {convention!r}, got some. Use 'mean'.")
    return _PUBLISHED[convention](groups, alpha)


def _continuous(groups: Groups) -> float:
    """(1/W) Σ_g [e_g + (E − e_g W_a/W_g) ln(W_b/W_a)]: the integral of the curve with ties spread evenly."""
    ends, losses_so_far = np.cumsum(groups.weights), np.cumsum(groups.losses)
    start, before = ends[:-1], losses_so_far[:-1]
    slope = before - groups.losses[1:] * start / groups.weights[1:]
    return float((groups.losses.sum() + (slope * np.log(ends[1:] / start)).sum()) / ends[-1])


def _trapezoid(groups: Groups, _alpha: float) -> float:
    """From k = 1 on."""
    return float(np.trapezoid(expected_risks(groups.counts, groups.weights, groups.losses)) / groups.n)


def _torch_uncertainty(groups: Groups, _alpha: float) -> float:
    if groups.n < 2:
        raise InvalidInputError("`confidence` must have at least 2 samples for convention 'torch_uncertainty', got 1.")
    return _trapezoid(groups, 1.0) / (1 - 1 / groups.n)


def _fd_shifts(groups: Groups, _alpha: float) -> float:
    """Trapezoids between the points a threshold reaches, and flat before the first."""
    risk = np.cumsum(groups.losses) / np.cumsum(groups.counts)
    return float((groups.counts[0] * risk[0] + (groups.counts[1:] * (risk[1:] + risk[:-1]) / 2).sum()) / groups.n)


def _paper_code(groups: Groups, alpha: float) -> float:
    """Mean of the int(αn) first points of E_k/(k+1) (E_n/n at the end); none means all, as a slice from −0 does."""
    risks = expected_risks(groups.counts, groups.weights, groups.losses)
    k = np.arange(1, groups.n + 1)
    shown = np.where(k < groups.n, risks * k / (k + 1), risks)
    return float(shown[: int(alpha * groups.n) or groups.n].mean())


_PUBLISHED: dict[str, Callable[[Groups, float], float]] = {
    "trapezoid": _trapezoid,
    "torch_uncertainty": _torch_uncertainty,
    "fd_shifts": _fd_shifts,
    "paper_code": _paper_code,
}


MARGIN = 1e-9  # the order of areas closer than this may depend on the last bits of a processor's linear algebra


def lowest(areas: Sequence[float], /) -> int:
    """The index of the first area that is the lowest but for rounding.

    >>> lowest([0.3, 0.2 + 1e-15, 0.2])
    1
    """
    least = min(areas)
    return next(index for index, area in enumerate(areas) if area <= least + MARGIN)

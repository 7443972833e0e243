"""Risk under an unknown mix of known parts: label shift of unknown size, and mixtures within bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from abstain._errors import InvalidInputError
from abstain.thresholds.binomial import lower_bound, upper_bound
from abstain.thresholds.sample import check_chance


@dataclass(frozen=True)
class LabelShiftBound:
    """What is certain of a threshold, with probability 1 − δ, whatever share of samples is of unknown classes.

    Attributes
    ----------
    risk : float
        Upper bound on the risk among known classes.
    acceptance : float
        Lower bound on their share accepted.
    acceptance_out : float
        Upper bound on the share of unknown samples accepted; 1 if none were there to calibrate on.
    delta : float
        The probability with which any of the bounds may fail.
    """

    risk: float
    acceptance: float
    acceptance_out: float
    delta: float

    def at(self, share: float, /) -> float:
        """Upper bound on the selective risk at this share of unknown samples, where accepting is always an error."""
        if not 0 <= share < 1:
            raise InvalidInputError(f"`share` must be at least 0 and below 1, got {share}.")
        known = (1 - share) * self.acceptance
        return 1 - known * (1 - self.risk) / (known + share * self.acceptance_out)


def label_shift_bound(
    *, n: int, accepted: int, errors: int, delta: float = 0.05, n_out: int | None = None, accepted_out: int = 0
) -> LabelShiftBound:
    """What a threshold guarantees whatever share of rows is of unknown classes, from counts at that threshold.

    All bounds hold together with probability 1 − δ, each with an equal part of δ. The threshold must have been
    chosen on other rows.

    Parameters
    ----------
    n, accepted, errors : int
        Rows of known classes, those accepted, and the errors among these.
    delta : float
        The probability with which the guarantee may fail, at most 0.5.
    n_out, accepted_out : int
        Rows of unknown classes and those accepted; without ``n_out`` all of them count as accepted.

    Returns
    -------
    LabelShiftBound

    Raises
    ------
    InvalidInputError
        If not errors ≤ accepted ≤ n, or none is accepted.

    Examples
    --------
    >>> round(label_shift_bound(n=1000, accepted=800, errors=8).at(0.01), 3)
    0.032
    """
    check_chance("delta", delta)
    if not 0 <= errors <= accepted <= n or accepted == 0:
        raise InvalidInputError(
            f"`errors` ≤ `accepted` ≤ `n` must hold with some accepted, got {errors}, {accepted}, {n}."
        )
    part = delta / (2 if n_out is None else 3)
    out = 1.0 if n_out is None else upper_bound(accepted_out, n_out, part)
    return LabelShiftBound(upper_bound(errors, accepted, part), lower_bound(accepted, n, part), out, delta)


def worst_mixture_risk(acceptance: ArrayLike, risks: ArrayLike, low: ArrayLike, high: ArrayLike, /) -> float:
    """The largest selective risk over all mixtures of parts whose shares lie between bounds.

    With the bounds 0 and 1 it is the largest of the risks: a threshold that holds in every part holds in any mix.

    Parameters
    ----------
    acceptance : (p,) array
        The share of each part accepted.
    risks : (p,) array
        The selective risk of each part.
    low, high : (p,) array
        The smallest and the largest share of each part.

    Returns
    -------
    float

    Raises
    ------
    InvalidInputError
        If lengths differ, or no shares between the bounds sum to 1.

    Examples
    --------
    >>> round(worst_mixture_risk([0.8, 0.6, 0.3], [0.02, 0.1, 1.0], [0.7, 0, 0], [1, 0.3, 0.1]), 10)
    0.0749295775
    """
    a, r, least, most = (np.asarray(values, dtype=np.float64) for values in (acceptance, risks, low, high))
    if not a.shape == r.shape == least.shape == most.shape or a.ndim != 1:
        raise InvalidInputError(
            "`acceptance`, `risks`, `low` and `high` must have one entry for each part, got shapes "
            f"{a.shape}, {r.shape}, {least.shape} and {most.shape}."
        )
    if least.sum() > 1 + 1e-12 or most.sum() < 1 - 1e-12 or (least > most).any():
        raise InvalidInputError(
            f"`low` and `high` must allow shares that sum to 1, got sums of {least.sum():g} and {most.sum():g}, or a "
            "low above its high."
        )

    def excess(rho: float) -> float:
        """The largest Σ π a (r − ρ): fill the most harmful parts first."""
        gain = a * (r - rho)
        shares, left = least.copy(), 1 - least.sum()
        for part in np.argsort(-gain):
            more = min(left, most[part] - least[part])
            shares[part] += more
            left -= more
        return float((shares * gain).sum())

    lowest, highest = float(r.min()), float(r.max())
    if lowest == highest:
        return lowest
    return float(brentq(excess, lowest, highest, xtol=1e-14)) if excess(highest) < 0 else highest

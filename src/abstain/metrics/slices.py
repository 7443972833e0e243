"""Shares with exact intervals, and the risk and coverage of slices: groups, classes, domains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_names, check_fraction
from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain._kernels.sums import exact_sum
from abstain.metrics.checks import check_losses
from abstain.metrics.clusters import RowClusters, cluster_sums

Rate = Literal["coverage", "risk", "missed"]
RATES: tuple[Rate, ...] = ("coverage", "risk", "missed")


@dataclass(frozen=True)
class ShareEstimate:
    """A share, its standard error and its interval.

    Attributes
    ----------
    value : float
        The share.
    se : float
        Its standard error.
    low : float
        The lower end of its interval.
    high : float
        The upper end of its interval.
    """

    value: float
    se: float
    low: float
    high: float


def share(losses: ArrayLike, /, *, ids: ArrayLike | None = None, level: float = 0.95) -> ShareEstimate:
    """The mean loss of rows, such as their share of errors, with the interval of Korn and Graubard (1998).

    It is Clopper and Pearson's for the number of independent rows that would have the same standard error. Rows with
    the same ``ids`` are one cluster, taken for a draw among all clusters, so that their number may vary too.

    Parameters
    ----------
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    ids : (n,) array, optional
        Samples with the same id are one cluster, counted once in standard errors.
    level : float
        Of the interval.

    Returns
    -------
    ShareEstimate
        The share with its interval.

    Examples
    --------
    >>> errors = share([0, 0, 0, 1])
    >>> errors.value, round(errors.low, 3), round(errors.high, 3)
    (0.25, 0.006, 0.806)
    """
    check_fraction("level", level)
    each = check_losses(losses, None)[0].astype(np.float64)
    clusters, n = RowClusters.of(ids, len(each)), len(each)
    value = exact_sum(each) / n
    sums = cluster_sums(each - value, clusters)
    c = len(sums)
    se = sqrt(exact_sum(np.square(sums)) * c / (c - 1)) / n if c > 1 else 0.0
    low, high = korn_graubard(*map(np.array, ([value], [se], [n], [c])), level=level)
    return ShareEstimate(value, se, float(low[0]), float(high[0]))


def korn_graubard(
    value: Floats, se: Floats, rows: NDArray[np.int64], clusters: NDArray[np.int64], /, *, level: float
) -> tuple[Floats, Floats]:
    """Intervals of shares (m,) from their standard errors and the numbers of rows and clusters that they are of.

    Where the standard error is 0, because all rows are alike, every cluster counts as one row, and no share counts for
    more rows than there are.
    """
    from scipy.special import betaincinv, stdtrit

    outside = (1 - level) / 2
    spread = value * (1 - value)
    alike = (se <= 0) | (spread <= 0) | (clusters < 2)
    of_rows, of_clusters = np.maximum(rows - 1, 1), np.maximum(clusters - 1, 1)  # degrees of freedom
    same = spread / np.where(alike, 1.0, np.square(se)) * (rows / of_rows)
    size = np.where(alike, clusters, np.minimum(same, rows))
    size = size * np.square(stdtrit(of_rows, outside) / stdtrit(of_clusters, outside))
    hits = value * size
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-300), size - hits + 1, outside), 0.0)
    high = np.where(hits < size, betaincinv(hits + 1, np.maximum(size - hits, 1e-300), 1 - outside), 1.0)
    return np.minimum(low, value), np.maximum(high, value)


@dataclass(frozen=True)
class Slice:
    """The rows of one name: how many are accepted, and with what errors.

    Attributes
    ----------
    name : str
        What it is called.
    n : int
        The number of rows.
    accepted : int
        How many of them are accepted.
    errors : float
        The total loss of those accepted.
    coverage : ShareEstimate
        The share of its rows that is accepted.
    risk : ShareEstimate or None
        The mean loss of those accepted, None where there are none.
    missed : ShareEstimate
        The share of its rows that is accepted with a wrong answer.
    misses : dict of str to ShareEstimate
        By true class that was asked for, of which it has rows, the share of these accepted with another answer.
    """

    name: str
    n: int
    accepted: int
    errors: float
    coverage: ShareEstimate
    risk: ShareEstimate | None
    missed: ShareEstimate
    misses: dict[str, ShareEstimate]

    def rate(self, name: str, /) -> ShareEstimate | None:
        """Coverage, risk or missed by name, or the misses of a true class; None where no row shows it."""
        return getattr(self, name) if name in RATES else self.misses.get(name)


def slices(
    names: ArrayLike,
    accepted: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    ids: ArrayLike | None = None,
    level: float = 0.95,
    classes: Mapping[str, ArrayLike] | None = None,
) -> list[Slice]:
    """Coverage and risk of the rows of each name, in the order of the names, with intervals that count a cluster once.

    Parameters
    ----------
    names : (n,) array
        The slice of each sample.
    accepted : (n,) array of bool
        Which samples are accepted.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    ids : (n,) array, optional
        Samples with the same id are one cluster, counted once in standard errors.
    level : float
        Of each interval by itself; `compare_groups` has intervals that hold together.
    classes : dict of str to (n,) array of bool, optional
        The samples of each true class whose misses are counted: those accepted with another answer.

    Returns
    -------
    list of Slice
        One for each name, with its risk and coverage.

    Examples
    --------
    >>> [fog] = slices(["fog", "fog"], [True, True], [0, 1])
    >>> fog.accepted, fog.coverage.value, fog.risk.value
    (2, 1.0, 0.5)
    """
    each, taken, loss = np.asarray(names), np.asarray(accepted), check_losses(losses, None)[0]
    if taken.dtype != bool or not each.shape == taken.shape == loss.shape:
        raise InvalidInputError(
            f"`names`, `accepted` and `losses` must have a name, a boolean and a loss for each row, got shapes "
            f"{each.shape}, {taken.shape} of {taken.dtype} and {loss.shape}."
        )
    samples = None if ids is None else as_names("ids", ids)
    members = {name: np.asarray(rows, dtype=bool) for name, rows in (classes or {}).items()}
    missed = taken * loss

    def share_of(values: NDArray[Any], rows: NDArray[np.int64]) -> ShareEstimate:
        return share(values[rows], ids=None if samples is None else samples[rows], level=level)

    def slice_of(name: object, rows: NDArray[np.int64]) -> Slice:
        kept = rows[taken[rows]]
        return Slice(
            name=str(name),
            n=len(rows),
            accepted=len(kept),
            errors=float(loss[kept].sum()),
            coverage=share_of(taken, rows),
            risk=share_of(loss, kept) if len(kept) else None,
            missed=share_of(missed, rows),
            misses={name: share_of(missed, rows[of[rows]]) for name, of in members.items() if of[rows].any()},
        )

    distinct, index = np.unique(each, return_inverse=True)
    return [slice_of(*part) for part in zip(distinct, rows_of_parts(index, len(distinct)), strict=True)]


def rows_of_parts(number: NDArray[np.int64], parts: int, /) -> list[NDArray[np.int64]]:
    """The rows of each of so many parts, from the number of each row's part (n,)."""
    ends = np.cumsum(np.bincount(number, minlength=parts))
    return np.split(np.argsort(number, kind="stable"), ends[:-1])

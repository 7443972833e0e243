"""Samples grouped by equal confidence: all that any risk–coverage metric looks at."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arrays import Floats, Ints
from abstain._kernels.areas import ErrorArea, group_error_areas, sorted_error_areas
from abstain._kernels.blocks import in_threads
from abstain._kernels.ranking import merged_groups, order_rows, sort_floats, split
from abstain._kernels.sums import exact_sums
from abstain.metrics.checks import CheckedSamples, check_samples


class Ties(Protocol):
    """What areas are made of: groups of tied samples, or what they are made from."""

    @property
    def n(self) -> int:
        """The number of samples."""

    @property
    def is_counted(self) -> bool:
        """Whether every loss is 0 or 1 and every weight 1."""

    def prefix(self, coverage: float, /) -> int:
        """How many samples, at least one, fit into ``coverage``."""

    def error_areas(self, ms: Ints, /) -> list[ErrorArea]:
        """The sums over the first m samples."""

    def groups(self) -> Groups:
        """The groups of ties."""


@dataclass(frozen=True)
class Groups:
    """Groups of tied samples, most trusted first; arrays of shape (g,). Those of two parts merge into the whole's.

    Attributes
    ----------
    confidence : array
        The distinct confidences, descending.
    counts : array of int
        Samples in each group.
    weights : array
        Their total weight.
    losses : array
        Their total weighted loss.
    is_counted : bool
        Whether every loss is 0 or 1 and every weight 1: losses count errors, and all sums are exact.
    """

    confidence: Floats
    counts: Ints
    weights: Floats
    losses: Floats
    is_counted: bool

    @property
    def n(self) -> int:
        """The number of samples."""
        return int(self.counts.sum())

    @property
    def risk(self) -> float:
        """Risk at full coverage."""
        return float(self.losses.sum() / self.weights.sum())

    def prefix(self, coverage: float, /) -> int:
        """How many samples, at least one, fit into ``coverage`` of the weight."""
        if self.is_counted:
            return prefix(self.n, coverage)
        ends = np.cumsum(self.weights)
        goal = coverage * ends[-1]
        g = min(int(np.searchsorted(ends, goal, side="right")), len(ends) - 1)
        before = ends[g] - self.weights[g] if g else 0.0
        inside = int((goal - before) / (self.weights[g] / self.counts[g]) + 1e-9)
        return max(1, min(self.n, int(self.counts[:g].sum()) + inside))

    def groups(self) -> Self:
        """Themselves, as `Sides` give theirs."""
        return self

    def error_areas(self, ms: Ints, /) -> list[ErrorArea]:
        """The sums over the first m samples that areas of counted groups are made of."""
        return group_error_areas(self.counts, self.losses, ms)

    def merge(self, other: Self, /) -> Self:
        """The groups of both samples together, in whatever order parts are merged; exact for counted groups.

        >>> a, b = group([0.9, 0.8], [0, 1]), group([0.8, 0.1], [0, 1])
        >>> a.merge(b).counts, a.merge(b).losses
        (array([1, 2, 1]), array([0., 1., 1.]))
        """
        confidence, index = np.unique(-np.concatenate([self.confidence, other.confidence]), return_inverse=True)
        mine, others = index[: len(self.counts)], index[len(self.counts) :]

        def both(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
            total = np.zeros(len(confidence), a.dtype)
            total[mine] = a
            total[others] += b
            return total

        return type(self)(
            -confidence,
            both(self.counts, other.counts),
            both(self.weights, other.weights),
            both(self.losses, other.losses),
            self.is_counted and other.is_counted,
        )


@dataclass(frozen=True)
class Sides:
    """Confidences of right and of wrong samples, each ascending: what areas of 0/1 losses need, with no array more."""

    right: NDArray[np.floating]
    wrong: NDArray[np.floating]
    is_counted: bool = True

    @property
    def n(self) -> int:
        """The number of samples."""
        return len(self.right) + len(self.wrong)

    @property
    def risk(self) -> float:
        """Risk at full coverage."""
        return len(self.wrong) / self.n

    def prefix(self, coverage: float, /) -> int:
        """How many samples, at least one, fit into ``coverage``."""
        return prefix(self.n, coverage)

    def error_areas(self, ms: Ints, /) -> list[ErrorArea]:
        """The sums over the first m samples that areas are made of; the same bits as those of the groups."""
        return sorted_error_areas(self.right, self.wrong, ms)

    def groups(self) -> Groups:
        """The groups of ties."""
        confidence, counts, errors = np.empty(self.n, self.right.dtype), np.empty(self.n, np.int64), np.empty(self.n)
        size = merged_groups(self.right, self.wrong, confidence, counts, errors)
        kept = slice(self.n - size, None)
        counts = counts[kept].copy()
        weights = counts.astype(np.float64)
        return Groups(confidence[kept].astype(np.float64), counts, weights, errors[kept].copy(), is_counted=True)


def prefix(n: int, coverage: float, /) -> int:
    """How many of n samples, at least one, fit into ``coverage``."""
    goal = coverage * n
    return max(1, int(goal) + (goal - int(goal) > 1 - 1e-9))


def accepted_at(n: int, coverage: float, /) -> int:
    """The smallest number of n samples that makes up ``coverage``."""
    return max(1, ceil(coverage * n - 1e-9))


def group(confidence: ArrayLike, losses: ArrayLike, /, *, weights: ArrayLike | None = None) -> Groups:
    """Check and group the samples. Every sum is the same in whatever order the rows come.

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted; tied samples are accepted together.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    weights : (n,) array, optional
        Positive weights of the samples.

    Returns
    -------
    Groups
        Groups of tied samples, most trusted first.
    """
    return ties_of(check_samples(confidence, losses, weights)).groups()


def ties_of(samples: CheckedSamples, /) -> Sides | Groups:
    """Right and wrong samples sorted apart if every loss is 0 or 1 and there are no weights, else groups."""
    if sides := sides_of(samples):
        return sides
    c, losses, weights = samples
    number, counts, examples = order_rows(c).numbers()
    return grouped(c[examples], counts, number, losses, weights)


def sides_of(samples: CheckedSamples, /) -> Sides | None:
    """Right and wrong samples sorted apart, or None where a loss is neither 0 nor 1 or there are weights."""
    c, losses, weights = samples
    if weights is not None:
        return None
    parts = split(c, losses)
    if sum(map(len, parts)) < len(c):
        return None
    right, wrong = in_threads(sort_floats, parts, len(c) // 2)
    return Sides(right, wrong)


def grouped(
    confidence: NDArray[np.floating], counts: Ints, number: Ints, losses: NDArray[Any], weights: Floats | None, /
) -> Groups:
    """Groups from the number of each row's group."""
    g = len(counts)
    is_counted = weights is None and are_errors(losses)
    if is_counted:  # sums of integers are the same in any order
        sums = np.asarray(np.bincount(number, weights=losses, minlength=g), dtype=np.float64)
    else:
        sums = exact_sums(losses.astype(np.float64) if weights is None else weights * losses, number, g)
    total = counts.astype(np.float64) if weights is None else exact_sums(weights, number, g)
    return Groups(confidence.astype(np.float64, copy=False), counts, total, sums, is_counted)


def are_errors(losses: NDArray[Any], /) -> bool:
    """Whether every loss is 0 or 1."""
    return losses.dtype == bool or not np.any((losses != 0) & (losses != 1))


def rates_at_cut(groups: Groups, accepted: Floats, /) -> Floats:
    """The error rate η of the samples near a cut, within n^⅔ ranks, by the weight accepted: the slope of the loss."""
    weight, loss = (np.append(0.0, np.cumsum(each)) for each in (groups.weights, groups.losses))
    reach = np.ceil(groups.n ** (2 / 3)) * weight[-1] / groups.n
    after, before = np.minimum(accepted + reach, weight[-1]), np.maximum(accepted - reach, 0.0)
    return np.asarray((np.interp(after, weight, loss) - np.interp(before, weight, loss)) / (after - before))

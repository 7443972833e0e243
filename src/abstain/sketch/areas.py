"""Sums along a ranking of groups in closed form: time grows with the groups, not with the rows.

Σ_{a<k≤b} 1/k = H_b − H_a stands for a loop over the ranks of a group, in a form that loses no digits to cancellation.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from abstain._arrays import Floats, Ints
from abstain._kernels.areas import ErrorArea
from abstain.metrics.groups import Groups, prefix

TABLE = np.append(0.0, np.cumsum(1.0 / np.arange(1, 1001)))  # H_0 … H_1000


def harmonic(a: Ints, b: Ints, /) -> Floats:
    """H_b − H_a for a ≤ b, to the last digits for numbers of any size.

    >>> harmonic(np.array([0]), np.array([100_000_000]))
    array([18.99789641])
    """
    last = len(TABLE) - 1
    near = TABLE[np.minimum(b, last)] - TABLE[np.minimum(a, last)]
    start, end = np.maximum(a, last).astype(np.float64), np.maximum(b, last).astype(np.float64)
    return near + np.log1p((end - start) / start) + (_rest(end) - _rest(start))


def _rest(x: Floats) -> Floats:
    """H_x − ln x − γ by the first terms of its series."""
    return 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4)


def error_areas(counts: Ints, errors: Floats, ms: Ints, /) -> list[ErrorArea]:
    """The sums over the first m rows, for each m, of groups with the most trusted first."""
    return [_area(counts, errors, int(m)) for m in ms]


def risk_sum(counts: Ints, errors: Floats, m: int, /) -> float:
    """Σ R_k over the first m rows."""
    step, own = _steps(counts, m)
    return float(((np.cumsum(errors) - errors) * step + errors / counts * own).sum())


def _steps(counts: Ints, m: int) -> tuple[Floats, Floats]:
    """Of each group's rows among the first m their Σ 1/k, and Σ over these rows i of Σ_{i≤k} 1/k."""
    before = np.cumsum(counts) - counts
    inside = np.clip(m - before, 0, counts)
    step = harmonic(before, before + inside)
    return step, inside - before * step


def _area(counts: Ints, errors: Floats, m: int) -> ErrorArea:
    n, rate = int(counts.sum()), errors / counts
    step, own = _steps(counts, m)
    risks = float(((np.cumsum(errors) - errors) * step + rate * own).sum())
    h = _after(step) + own / counts
    t = _after(rate * step) + rate * own / counts
    mean = float((errors * h - counts * t).sum()) / n
    if_wrong, if_right = h - t - mean, -t - mean
    spread, third = (float((errors * if_wrong**k + (counts - errors) * if_right**k).sum()) for k in (2, 3))
    ends = np.cumsum(counts)
    wrong = np.flatnonzero((errors > 0) & (ends - counts < m))
    return ErrorArea(risks, spread, third, float(h[0]), float(ends[wrong[0]]) if len(wrong) else 0.0)


def _after(values: Floats) -> Floats:
    """(g,) the sum of all later values."""
    return np.append(np.cumsum(values[:0:-1])[::-1], 0.0)


@final
@dataclass(frozen=True)
class BinGroups:
    """Groups of rows, the most trusted first; areas take time for the groups alone, or are to the bit those of rows."""

    tied: Groups
    is_looped: bool
    """Whether areas are summed rank by rank."""
    is_counted: bool = True

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.tied.n

    @property
    def risk(self) -> float:
        """Risk at full coverage."""
        return self.tied.risk

    def prefix(self, coverage: float, /) -> int:
        """How many rows, at least one, fit into ``coverage``."""
        return prefix(self.n, coverage)

    def groups(self) -> Groups:
        """The groups."""
        return self.tied

    def error_areas(self, ms: Ints, /) -> list[ErrorArea]:
        """The sums over the first m rows."""
        if self.is_looped:
            return self.tied.error_areas(ms)
        return error_areas(self.tied.counts, self.tied.losses, ms)

"""The ranking of samples by confidence, tied samples grouped: all that any risk–coverage metric looks at."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import check_number

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ranking:
    """Groups of tied samples, most trusted first; group arrays have shape (g,), row arrays (n,)."""

    confidence: Floats
    """(g,) the distinct confidences, descending."""
    counts: NDArray[np.int64]
    """(g,) samples in each group."""
    weights: Floats
    """(g,) their total weight."""
    losses: Floats
    """(g,) their total weighted loss."""
    group: NDArray[np.int64]
    """(n,) the group of each sample, in the order they were given."""
    row_weights: Floats
    row_losses: Floats

    @property
    def n(self) -> int:
        """The number of samples."""
        return len(self.group)

    @property
    def risk(self) -> float:
        """Risk at full coverage."""
        return float(self.losses.sum() / self.weights.sum())

    def prefix(self, coverage: float, /) -> int:
        """How many samples, at least one, fit into ``coverage`` of the weight."""
        ends = np.cumsum(self.weights)
        goal = coverage * ends[-1]
        g = min(int(np.searchsorted(ends, goal, side="right")), len(ends) - 1)
        before = ends[g] - self.weights[g] if g else 0.0
        inside = int((goal - before) / (self.weights[g] / self.counts[g]) + 1e-9)
        return max(1, min(self.n, int(self.counts[:g].sum()) + inside))


def rank(confidence: ArrayLike, losses: ArrayLike, /, *, weights: ArrayLike | None = None) -> Ranking:
    """Check and group the samples. Every sum runs in an order that the order of the rows cannot change."""
    c = _column("confidence", confidence)
    e = _column("losses", losses)
    w = np.ones(len(c)) if weights is None else _column("weights", weights)
    if not len(c) == len(e) == len(w):
        raise ValueError(
            f"`confidence`, `losses` and `weights` must be of one length, got {len(c)}, {len(e)} and {len(w)}."
        )
    _check_rows("confidence", np.isnan(c), c, "not be NaN", "Set it to -inf where a sample is to count as rejected.")
    _check_rows("losses", ~((e >= 0) & (e <= 1)), e, "be between 0 and 1", "Divide a loss by its largest value.")
    _check_rows("weights", ~((w > 0) & (w < np.inf)), w, "be positive and finite", "Drop samples of weight zero.")
    # Within a tie only the sums of losses matter; equal addends in equal order make equal sums.
    counted = weights is None and bool(((e == 0) | (e == 1)).all())
    order = np.argsort(-c, kind="stable") if counted else np.lexsort((w, e, -c))
    ranked = c[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    group = np.empty(len(c), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(c)]))
    return Ranking(
        confidence=ranked[starts],
        counts=np.diff(np.r_[starts, len(c)]),
        weights=np.add.reduceat(w[order], starts),
        losses=np.add.reduceat((w * e)[order], starts),
        group=group,
        row_weights=w,
        row_losses=e,
    )


def check_share(name: str, value: float, /) -> None:
    """A number above 0 and at most 1."""
    check_number(name, value)
    if not 0 < value <= 1:
        raise ValueError(f"`{name}` must be above 0 and at most 1, got {value}.")


def _column(name: str, values: ArrayLike) -> Floats:
    array: NDArray[Any] = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"`{name}` must be numbers, got {array.dtype}.")
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"`{name}` must have shape (n,) with at least one sample, got {array.shape}.")
    return array.astype(np.float64)


def _check_rows(name: str, bad: NDArray[np.bool_], values: Floats, rule: str, advice: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        count = np.count_nonzero(bad)
        raise ValueError(
            f"`{name}` must {rule}, got {values[row]} in {count} of {len(bad)} rows, first in row {row}. {advice}"
        )

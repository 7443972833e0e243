"""Rows and their ranking: what paired differences and clusters need beyond the groups of ties."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.kernels.ranks import tie_numbers
from abstain.metrics.checks import check_confidence, check_losses, check_samples
from abstain.metrics.clusters import Clusters
from abstain.metrics.groups import Groups, grouped

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """What is known of n samples whichever score ranks them, checked once; made by ``Rows.of``."""

    given_losses: NDArray[Any]
    """(n,) bool or float64."""
    weights: Floats | None
    """(n,), or None where every row counts once."""
    clusters: Clusters | None
    labels: NDArray[np.int64] | None
    """(n,) the true class, negative for one the classifier does not know."""
    log_probabilities: Floats | None
    """(n, K) of the classes."""

    @classmethod
    def of(
        cls,
        losses: ArrayLike,
        /,
        *,
        weights: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        log_probabilities: ArrayLike | None = None,
    ) -> Self:
        """Check the rows; those with the same ``ids`` are one cluster."""
        e, w = check_losses(losses, weights)
        classes = None if labels is None else np.asarray(labels)
        if classes is not None and (classes.shape != e.shape or classes.dtype.kind not in "iu"):
            raise ValueError(f"`labels` must be {len(e)} whole numbers, got {classes.shape} {classes.dtype}.")
        logs = None if log_probabilities is None else np.asarray(log_probabilities, dtype=np.float64)
        if logs is not None and (logs.ndim != 2 or len(logs) != len(e)):
            raise ValueError(f"`log_probabilities` must have shape ({len(e)}, K), got {logs.shape}.")
        return cls(e, w, Clusters.of(ids, len(e)), None if classes is None else classes.astype(np.int64), logs)

    def __len__(self) -> int:
        return len(self.given_losses)

    @cached_property
    def losses(self) -> Floats:
        """(n,) in float64."""
        return self.given_losses.astype(np.float64, copy=False)

    def rank(self, confidence: ArrayLike, /) -> "Ranking":
        """Rank the rows by a confidence."""
        return _ranked(self, check_confidence(confidence, len(self)))


@dataclass(frozen=True)
class Ranking:
    """The groups of ties in some rows, and where each row is."""

    groups: Groups
    group: NDArray[np.int64]
    """(n,) the group of each row."""
    rows: Rows


def rank(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    weights: ArrayLike | None = None,
    ids: ArrayLike | None = None,
) -> Ranking:
    """Check and rank the samples. For many scores of the same rows, make ``Rows`` once."""
    c, e, w = check_samples(confidence, losses, weights)
    return _ranked(Rows(e, w, Clusters.of(ids, len(e)), None, None), c)


def _ranked(rows: Rows, c: NDArray[np.floating]) -> Ranking:
    number, counts, examples = tie_numbers(c)
    return Ranking(grouped(c[examples], counts, number, rows.given_losses, rows.weights), number, rows)

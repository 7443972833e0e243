"""Rows and their ranking: what paired differences and clusters need beyond the groups of ties."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.kernels.ranks import tie_numbers
from abstain.metrics.checks import check_confidence, check_labels, check_logits, check_losses, check_samples
from abstain.metrics.clusters import Clusters
from abstain.metrics.groups import Groups, are_errors, grouped
from abstain.metrics.softmax import Softmax, softmax

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """What is known of n samples whichever score ranks them, checked once; made by ``Rows.of``."""

    given_losses: NDArray[Any]
    """(n,) bool or float64."""
    weights: Floats | None
    """(n,), or None where every row counts once."""
    clusters: Clusters | None
    labels: NDArray[np.int64] | None = None
    """(n,) the true class, negative for one the classifier does not know."""
    logits: NDArray[np.floating] | None = None
    """(n, K) of the classes, for the metrics of the softmax; of probabilities p the logits are log p."""

    @classmethod
    def of(
        cls,
        losses: ArrayLike,
        /,
        *,
        weights: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        logits: ArrayLike | None = None,
    ) -> Self:
        """Check the rows; those with the same ``ids`` are one cluster."""
        e, w = check_losses(losses, weights)
        e = e.astype(bool) if e.dtype != bool and are_errors(e) else e
        y = None if labels is None else check_labels(labels, len(e))
        z = None if logits is None else check_logits(logits, len(e))
        return cls(e, w, Clusters.of(ids, len(e)), y, z)

    def __len__(self) -> int:
        return len(self.given_losses)

    @cached_property
    def losses(self) -> Floats:
        """(n,) in float64."""
        return self.given_losses.astype(np.float64, copy=False)

    @cached_property
    def softmax(self) -> Softmax:
        """The softmax of the logits, in one pass for every metric that asks for it."""
        if self.logits is None:
            raise ValueError("`logits` must be given for a metric of the softmax, got none. Pass logits= to Rows.of.")
        return softmax(self.logits)

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
    return _ranked(Rows(e, w, Clusters.of(ids, len(e))), c)


def _ranked(rows: Rows, c: NDArray[np.floating]) -> Ranking:
    number, counts, examples = tie_numbers(c)
    return Ranking(grouped(c[examples], counts, number, rows.given_losses, rows.weights), number, rows)

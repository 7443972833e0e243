"""Rows and their ranking: what paired differences and clusters need beyond the groups of ties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arrays import Floats
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain._kernels.areas import ErrorArea, ranked_error_areas
from abstain._kernels.ranking import Order, order_rows
from abstain._kernels.row_sums import LogitRows
from abstain.metrics.checks import (
    CheckedSamples,
    check_confidence,
    check_labels,
    check_logits,
    check_losses,
    check_samples,
)
from abstain.metrics.clusters import RowClusters
from abstain.metrics.groups import Groups, are_errors, grouped, prefix
from abstain.metrics.softmax import Softmax, softmax


@dataclass(frozen=True)
class SampleRows:
    """What is known of n samples whichever score ranks them, checked once; made by ``SampleRows.of``.

    Attributes
    ----------
    given_losses : array
        (n,) bool or float64.
    weights : array or None
        (n,), or None where every row counts once.
    clusters : RowClusters or None
        Rows that share an id; None where every row is a sample of its own.
    labels : array of int or None
        (n,) the true class, negative for one the classifier does not know.
    logits : LogitRows or None
        (n, K) of the classes, for the metrics of the softmax; of probabilities p the logits are log p.
    """

    given_losses: NDArray[Any]
    weights: Floats | None
    clusters: RowClusters | None
    labels: NDArray[np.int64] | None = None
    logits: LogitRows | None = None

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
        y = None if labels is None else check_labels(labels, len(e))
        z = None if logits is None else check_logits(logits, len(e))
        return cls.of_checked(e, w, RowClusters.of(ids, len(e)), y, z)

    @classmethod
    def of_checked(cls, losses: NDArray[Any], *others: Any) -> Self:
        """Rows of arrays that were checked; losses that are all 0 or 1 are known as errors."""
        is_error = losses.dtype != bool and are_errors(losses)
        return cls(losses.astype(bool) if is_error else losses, *others)

    def __len__(self) -> int:
        return len(self.given_losses)

    @cached_property
    def losses(self) -> Floats:
        """(n,) in float64."""
        return self.given_losses.astype(np.float64, copy=False)

    @property
    def total(self) -> float:
        """The number of errors, an integer, or the total of graded losses."""
        given = self.given_losses
        return int(np.count_nonzero(given)) if given.dtype == bool else float(given.sum())

    @cached_property
    def softmax(self) -> Softmax:
        """The softmax of the logits, in one pass for every metric that asks for it."""
        if self.logits is None:
            raise InvalidInputError(
                "`logits` must be given for a metric of the softmax, got none. Pass logits= to SampleRows.of."
            )
        return softmax(self.logits)

    @property
    def is_counted(self) -> bool:
        """Whether every loss is 0 or 1 and every row counts once."""
        return self.weights is None and self.given_losses.dtype == bool

    def rank(self, confidence: ArrayLike, /) -> Ranking:
        """Rank the rows by a confidence."""
        c = check_confidence(confidence, len(self))
        return Ranking(order_rows(c), c.__getitem__, self)


@dataclass(frozen=True)
class Ranking:
    """Some rows in the order of their confidence.

    Attributes
    ----------
    order : Order
        The rows from the most to the least trusted, with their ties.
    confidence_of : function
        The confidence of the rows of these indices.
    rows : SampleRows
        What is known of the rows whichever score ranks them.
    """

    order: Order
    confidence_of: Callable[[NDArray[np.int64]], NDArray[np.floating]]
    rows: SampleRows

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def prefix(self, coverage: float, /) -> int:
        """How many rows, at least one, fit into ``coverage`` of the weight."""
        return prefix(self.n, coverage) if self.rows.is_counted else self.groups.prefix(coverage)

    def error_areas(self, ms: NDArray[np.int64], /) -> list[ErrorArea]:
        """The sums over the first m rows that areas of counted rows are made of; the same bits as those of groups."""
        return ranked_error_areas(self.order, self.rows.given_losses, ms)

    @cached_property
    def _numbers(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        return self.order.numbers()

    @property
    def group(self) -> NDArray[np.int64]:
        """(n,) the group of ties of each row."""
        return self._numbers[0]

    @cached_property
    def groups(self) -> Groups:
        """The groups of ties."""
        number, counts, examples = self._numbers
        return grouped(self.confidence_of(examples), counts, number, self.rows.given_losses, self.rows.weights)


def rank(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    weights: ArrayLike | None = None,
    ids: ArrayLike | None = None,
) -> Ranking:
    """Check and rank the samples. For many scores of the same rows, make `SampleRows` once.

    Parameters
    ----------
    confidence : (n,) array
        Higher is more trusted.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    weights : (n,) array, optional
        How much each sample counts.
    ids : (n,) array, optional
        Samples with the same id are one cluster.

    Returns
    -------
    Ranking
        From which curves, areas and intervals are computed.
    """
    return ranked(check_samples(confidence, losses, weights), ids)


def ranked(samples: CheckedSamples, ids: ArrayLike | None, /) -> Ranking:
    """Rank samples that were checked."""
    c, e, w = samples
    return Ranking(order_rows(c), c.__getitem__, SampleRows.of_checked(e, w, RowClusters.of(ids, len(e))))

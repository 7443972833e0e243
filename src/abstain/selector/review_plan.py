"""`ReviewPlan`: which rejected rows are reviewed within a capacity, and which accepted ones are audited."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import check_number
from abstain._draws import coarse, generator
from abstain._errors import InvalidInputError
from abstain._text import counted
from abstain.metrics.checks import rejected_last

QUEUE, OVERFLOW, AUDIT = "queue", "overflow", "audit"


@final
@dataclass(frozen=True, kw_only=True)
class ReviewPlan:
    """Which rows of a batch of decisions people look at.

    The rejected rows are a queue in order of need: non-finite rows first, then the least confident. What is beyond the
    capacity is called overflow and stays rejected: it is never accepted. Of the accepted rows a random share is
    audited, rows of one id together, so that their labels estimate the risk of all that are accepted.

    Parameters
    ----------
    capacity : int, optional
        Rejected rows that can be reviewed; None for all of them.
    audit : float
        The probability with which an accepted row is drawn, from 0 to 1.
    seed : int
        Of the draw, which ids and confidences of the batch decide besides.

    Examples
    --------
    >>> plan = ReviewPlan(capacity=1, audit=0.0)
    >>> columns = {"id": np.arange(3), "confidence": np.array([0.9, 0.2, 0.1])}
    >>> plan.columns(columns | {"accepted": np.array([True, False, False])})["review"].tolist()
    ['', 'overflow', 'queue']
    """

    capacity: int | None = None
    audit: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_number("audit", self.audit)
        if not 0 <= self.audit <= 1:
            raise InvalidInputError(f"`audit` must be a share from 0 to 1, got {self.audit}.")
        if self.capacity is not None and self.capacity < 0:
            raise InvalidInputError(f"`capacity` must be a number of rows, at least 0, got {self.capacity}.")

    def columns(self, decisions: dict[str, NDArray[Any]], /) -> dict[str, NDArray[Any]]:
        """Columns to add to those of `Selector.decide`: review, need and inclusion.

        ``review`` is "queue", "overflow" or "audit", and "" for other accepted rows. ``need`` is the position in the
        queue from 1 on, 0 for accepted rows. ``inclusion`` is the probability with which a label is asked for: 1 in the
        queue, 0 in the overflow, ``audit`` for every accepted row, drawn or not.
        """
        accepted, ids = decisions["accepted"], decisions["id"]
        confidence = rejected_last(decisions["confidence"])
        rejected = np.flatnonzero(~accepted)
        order = rejected[np.lexsort((ids[rejected], confidence[rejected]))]
        need = np.zeros(len(accepted), dtype=np.int64)
        need[order] = np.arange(1, len(order) + 1)
        capacity = len(order) if self.capacity is None else self.capacity
        within = ~accepted & (need <= capacity)
        drawn = accepted & self._drawn(ids, confidence)
        return {
            "review": np.select([drawn, within, ~accepted], [AUDIT, QUEUE, OVERFLOW], ""),
            "need": need,
            "inclusion": np.where(accepted, float(self.audit), within.astype(np.float64)),
        }

    def _drawn(self, ids: NDArray[Any], confidence: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(n,) whether the id of each row is drawn; the order of rows decides nothing."""
        distinct, index = np.unique(ids, return_inverse=True)
        rng = generator("audit of accepted rows", self.seed, distinct, coarse(np.sort(confidence)))
        return (rng.random(len(distinct)) < self.audit)[index]

    def words(self, columns: dict[str, NDArray[Any]], /) -> list[str]:
        """What is to be done with the rows, a sentence each."""
        n, review = len(columns["review"]), columns["review"]
        queue, overflow, audited = (int(np.count_nonzero(review == name)) for name in (QUEUE, OVERFLOW, AUDIT))
        lines = [f"Review {counted(queue, 'rejected row')}, the least confident first (column need)."]
        if overflow:
            lines.append(
                f"{counted(overflow, 'rejected row')} beyond the capacity of {self.capacity:,} (overflow): not "
                f"answered, not accepted. Put them into the next batch, or raise --capacity.{self._fewer(n)}"
            )
        if self.audit:
            lines.append(
                f"Audit {counted(audited, 'accepted row')}, drawn at random with probability {self.audit:g}, in "
                "addition: check their answers and fill in the column error or loss. `abstain monitor`, `recertify "
                "--audited` and, for a selector with one threshold, `certify --on` take the file back, and use the "
                "labels of audited rows alone."
            )
        return lines

    def _fewer(self, n: int) -> str:
        """How fewer of n rows would be rejected."""
        if not self.capacity:
            return ""
        return f" To reject fewer, calibrate with --review {self.capacity / n:.3g}, at a higher risk."

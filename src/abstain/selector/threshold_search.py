"""`ThresholdSearch`: labels of rows above a floor, tested as they come in, and the lowest threshold they certify."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._draws import coarse, generator
from abstain._errors import InvalidInputError
from abstain.metrics.groups import are_errors
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.refusal import lowest_achievable
from abstain.thresholds.sample import Sample, check_chance, check_target, independent_rows, one_row_of_each
from abstain.thresholds.step_down import SafeRanks, noting_few_values
from abstain.thresholds.threshold import Threshold

FIRST_LOOK, GROWTH = 200, 1.6


@final
@dataclass(frozen=True, kw_only=True)
class ThresholdSearch:
    """The search for one threshold, that of all rows or of a group, at or above a floor.

    The labels are tested when there are 200, 320, 512, and so on, numbers fixed beforehand. The k-th look is
    `step_down` at δ/(k(k + 1)); these levels sum to δ.

    Attributes
    ----------
    risk : float
        The largest share of errors among the accepted rows.
    delta : float
        The probability with which a certified threshold may fail.
    floor : float
        The old threshold: no lower one is certified.
    ids : tuple of str
        Those of the rows labelled so far.
    confidence : tuple of float
        Those of the rows labelled so far.
    errors : tuple of int or float
        Of the rows labelled so far, all above the floor: 0 or 1, or their losses.
    pending : tuple of str
        The ids of the rows that wait for a label.
    pending_confidence : tuple of float
        Their confidences.
    pending_rows : tuple of int
        Their indices among the rows that were given.
    left : int
        Of the rows that the pending ones were drawn from, how many are still without a label.
    certified : float or None
        The lowest threshold that a look has certified.
    """

    risk: float
    delta: float
    floor: float
    ids: tuple[str, ...] = ()
    confidence: tuple[float, ...] = ()
    errors: tuple[int | float, ...] = ()
    pending: tuple[str, ...] = ()
    pending_confidence: tuple[float, ...] = ()
    pending_rows: tuple[int, ...] = ()
    left: int = 0
    certified: float | None = None

    def __post_init__(self) -> None:
        check_target("risk", self.risk)
        check_chance("delta", self.delta)
        values = (*self.confidence, *self.pending_confidence, *(() if self.certified is None else (self.certified,)))
        if not (
            len(self.ids) == len(self.confidence) == len(self.errors) == len(set(self.ids))
            and len(self.pending) == len(self.pending_confidence) == len(self.pending_rows)
            and not set(self.pending) & set(self.ids)
            and all(value >= self.floor for value in values)
            and all(0 <= error <= 1 for error in self.errors)
            and self.left >= 0
        ):
            raise InvalidInputError("`text` must be the state of a Recertification, got columns that do not fit.")

    def unlabelled(
        self, rows: NDArray[np.int64], confidence: NDArray[np.float64], ids: NDArray[Any], /
    ) -> NDArray[np.int64]:
        """Those of the rows, by their indices, that are above the floor and have no label."""
        return rows[(confidence[rows] > self.floor) & ~np.isin(ids[rows], self.ids)]

    def ask(
        self,
        rows: NDArray[np.int64],
        confidence: NDArray[np.float64],
        ids: NDArray[Any],
        /,
        *,
        labels: int,
        seed: int,
    ) -> Self:
        """Draw ``labels`` of these rows, which wait for their labels then; their order decides nothing."""
        order = rows[np.lexsort((ids[rows], confidence[rows]))]
        rng = generator("rows to label", seed, coarse(confidence[order]), self.looks)
        drawn = order[rng.permutation(len(order))[:labels]]
        return replace(
            self,
            pending=tuple(ids[drawn].tolist()),
            pending_confidence=tuple(confidence[drawn].tolist()),
            pending_rows=tuple(drawn.tolist()),
            left=len(rows) - len(drawn),
        )

    def answer(self, errors: Mapping[str, int | float], /) -> Self:
        """Take the errors of the pending rows, by id, and look whether they certify a threshold."""
        answered = replace(
            self,
            ids=(*self.ids, *self.pending),
            confidence=(*self.confidence, *self.pending_confidence),
            errors=(*self.errors, *(errors[name] for name in self.pending)),
            pending=(),
            pending_confidence=(),
            pending_rows=(),
        )
        values = (self.certified, *(answered._look(number) for number in range(self.looks + 1, answered.looks + 1)))
        return replace(answered, certified=min((value for value in values if value is not None), default=None))

    def _look(self, number: int) -> float | None:
        """The lowest threshold that this look certifies, on as many labels as it was fixed for."""
        safe = SafeRanks.of(self._sample(labels_at(number)), self.risk, level_at(self.delta, number))
        return max(safe.value(safe.largest), self.floor) if safe.largest else None

    def _sample(self, labels: int | None = None) -> Sample:
        """The first labels, or all of them."""
        return Sample.of(self.confidence[:labels], self.errors[:labels])

    @property
    def looks(self) -> int:
        """How many times the labels were tested."""
        return looks_with(len(self.ids))

    @property
    def labels_to_next_look(self) -> int:
        """How many more labels the next look needs."""
        return labels_at(self.looks + 1) - len(self.ids)

    def outlook(self) -> str:
        """What the labels so far would certify, in words: whether it is worth to ask for more."""
        if not self.ids:
            return "no row is labelled yet"
        sample, level = self._sample(), level_at(self.delta, self.looks + 1)
        top = max(1, len(sample) // 4)
        total, most = float(sample.totals[top - 1]), f"the {top} most trusted of {len(sample)} labelled rows"
        seen = (
            f"{total:.0f} of {most} are wrong" if sample.are_errors else f"{most} have a mean loss of {total / top:.3g}"
        )
        lowest = lowest_achievable(lambda trial: SafeRanks.of(sample, trial, level).largest > 0, self.risk)
        achievable = "no risk below 1" if lowest is None else f"a risk of {lowest:.2g}"
        return f"{seen}; {achievable} is achievable"

    def threshold(self, offered: NDArray[np.float64], /, *, clustered: bool) -> Threshold | None:
        """The lowest threshold certified so far, or None; ``offered`` are the confidences of all rows drawn from."""
        if self.certified is None:
            return None
        guarantee = Guarantee(
            quantity=Quantity.RISK if are_errors(np.array(self.errors)) else Quantity.LOSS,
            target=self.risk,
            probability=1 - self.delta,
            **(one_row_of_each(len(offered)) if clustered else independent_rows(len(offered))),
            caveats=(f"{len(self.ids)} of them were labelled, and it holds whenever labelling stopped",),
        )
        return Threshold(
            value=self.certified,
            method="recertify",
            n=len(offered),
            accepted=int(np.count_nonzero(offered > self.certified)),
            errors=None,
            guarantee=noting_few_values(guarantee, self._sample(FIRST_LOOK)),  # more labels show no fewer values
        )


def labels_at(look: int, /) -> int:
    """The number of labels at the k-th look, from 1.

    >>> [labels_at(look) for look in (1, 2, 3)]
    [200, 320, 512]
    """
    return round(FIRST_LOOK * GROWTH ** (look - 1))


def looks_with(labels: int, /) -> int:
    """How many looks there are with so many labels."""
    number = 0
    while labels_at(number + 1) <= labels:
        number += 1
    return number


def level_at(delta: float, look: int, /) -> float:
    """The part of δ that the k-th look has, δ/(k(k + 1)); all of them together have δ."""
    return delta / (look * (look + 1))

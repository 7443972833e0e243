"""Rows of clusters that may still grow."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from abstain.monitor.rows import Names, Rows

Ints = NDArray[np.int64]
HOW, VERDICT, IS_DECISION, HAS_CONFIDENCE, ERROR, ROW_KEY, IS_ROW, WAS_LABELLED, LABEL_OF = range(9)
"""The columns of what `abstain.kernels.decisions.take_rows` leaves of a row."""
WAITS = 2


@final
@dataclass(frozen=True, eq=False)
class OpenRows:
    """Rows that wait until their clusters are closed, in the order they came."""

    number: Ints
    position: Ints
    """Its place among all rows that ever waited."""
    cluster: Ints
    """The key of its id; minus its number where it has none, which makes it a cluster of its own."""
    names: Names
    confidence: NDArray[np.float64]
    left: Ints
    """What is new of each."""

    @classmethod
    def none(cls) -> Self:
        """No rows."""
        none = np.zeros(0, dtype=np.int64)
        return cls(none, none, none, [], np.zeros(0), np.zeros((0, 9), dtype=np.int64))

    @classmethod
    def of(cls, rows: Rows, keys: Ints, left: Ints, /, *, start: int, before: int) -> Self:
        """Those of a batch that wait; the first of the batch is number ``start``, and ``before`` have waited."""
        at = np.flatnonzero(left[:, HOW] == WAITS)
        names = [rows.ids[k] for k in at.tolist()]
        cluster = np.where(keys[at] == 0, -(start + at), keys[at])
        return cls(start + at, before + np.arange(len(at)), cluster, names, rows.confidence[at], left[at])

    def __len__(self) -> int:
        return len(self.number)

    def taken(self, at: NDArray[np.intp], /) -> "OpenRows":
        """Some of the rows."""
        names = [self.names[k] for k in at.tolist()]
        number, position, cluster = self.number[at], self.position[at], self.cluster[at]
        return OpenRows(number, position, cluster, names, self.confidence[at], self.left[at])

    def labelled(self) -> Ints:
        """(n,) the error of each row, its own or that of a later row with its label; −1 where there is none."""
        later = self.left[:, LABEL_OF] >= 0
        errors = np.where(later, -1, self.left[:, ERROR])
        errors[np.searchsorted(self.position, self.left[later, LABEL_OF])] = self.left[later, ERROR]
        return np.where(self.left[:, VERDICT] == 0, -1, errors)


def joined(parts: Sequence[OpenRows], /) -> OpenRows:
    """Rows after rows."""
    if len(parts) < 2:
        return parts[0] if parts else OpenRows.none()
    columns = {each.name: [getattr(part, each.name) for part in parts] for each in fields(OpenRows)}
    names = [name for part in columns.pop("names") for name in part]
    arrays = {name: np.concatenate(each) for name, each in columns.items()}
    return OpenRows(names=names, **arrays)

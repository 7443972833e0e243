"""Labels in the order of the decisions they are about, however they come."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self, final

from abstain.monitor.seen import Fresh

WINDOW = 1000
"""Accepted decisions after which a label that has not come is given up."""
Kept = tuple[tuple[int, ...], ...]


@final
@dataclass
class Turn:
    """Rows that count together, a single one or a cluster: how many there are, and the labels of those accepted."""

    rows: int
    right: int = 0
    wrong: int = 0
    pending: list[int] = field(default_factory=list)
    """The keys of decisions whose labels have not come; copies, which no label tells apart, have the same."""

    @classmethod
    def of(cls, rows: Sequence[Fresh], /) -> Self:
        """The labels of a row or of a cluster, and those that may come for its decisions to accept."""
        turn = cls(sum(one.again or not one.decided for one in rows))
        for one in rows:
            if one.row.accepted is False:
                continue
            if one.row.error is not None and one.key in turn.pending:
                turn.label(one.key, one.row.error)
            elif one.row.error is not None:
                turn.wrong += one.row.error
                turn.right += not one.row.error
            elif one.row.is_decision and one.key is not None and (one.again or not one.labelled):
                turn.pending.append(one.key)
        return turn

    def label(self, key: int, error: bool, /) -> None:
        """The label of a decision and of its copies."""
        copies = self.pending.count(key)
        self.pending = [other for other in self.pending if other != key]
        self.wrong += copies * error
        self.right += copies * (not error)

    @property
    def accepted(self) -> int:
        """Rows accepted."""
        return self.right + self.wrong + len(self.pending)

    @property
    def errors(self) -> tuple[float, ...]:
        """The error of each row whose label has come."""
        return (1.0,) * self.wrong + (0.0,) * self.right


@final
class Turns:
    """A queue of decisions to accept: a label counts once all labels of earlier decisions have come or are given up.

    So labels are counted in the order of decisions, and it does not matter whether errors are reported sooner than
    right answers. A label is given up when ``window`` further rows have been accepted; one that comes later is left
    out. Whether it comes in time must not depend on the outcome.
    """

    def __init__(self, kept: Kept = (), /, *, window: int = WINDOW, late: int = 0) -> None:
        if min(window, late) < 0 or any(
            len(each) < 3 or min(each) < 0 or each[0] < each[1] + each[2] + len(each[3:]) for each in kept
        ):
            raise ValueError("`text` must be the state of a monitor, got labels that wait for no decisions.")
        self.window, self.late = window, late
        self._queue: list[Turn] = []
        self._of: dict[int, Turn] = {}
        self._rows = 0
        self._first = 0  # of the queue; those before it have been counted
        for rows, right, wrong, *pending in kept:
            self.add(Turn(rows, right, wrong, pending))

    def add(self, turn: Turn, /) -> None:
        """A further decision, or a cluster of them; one that accepts nothing is none."""
        if turn.accepted:
            self._queue.append(turn)
            self._rows += turn.accepted
            self._of |= dict.fromkeys(turn.pending, turn)

    def label(self, key: int, error: bool, /) -> None:
        """The label of an earlier decision; it is left out where that was given up."""
        turn = self._of.pop(key, None)
        if turn is None:
            self.late += 1
            return
        turn.label(key, error)

    def due(self) -> Iterator[Turn]:
        """Those whose turn has come, which are removed."""
        while self._first < len(self._queue):
            turn = self._queue[self._first]
            if turn.pending and self._rows - turn.accepted < self.window:
                break
            self._first += 1
            self._rows -= turn.accepted
            for key in turn.pending:
                self._of.pop(key, None)
            yield turn
        if self._first > len(self._queue) // 2:
            self._queue, self._first = self._queue[self._first :], 0

    def clear(self) -> None:
        """Give up all labels that are waited for, and those that wait."""
        self._queue, self._of, self._rows, self._first = [], {}, 0, 0

    @property
    def waiting(self) -> int:
        """Labels that have come and whose turn has not."""
        return self._rows - self.pending

    @property
    def pending(self) -> int:
        """Labels that may still come."""
        return sum(len(turn.pending) for turn in self._queue[self._first :])

    def kept(self) -> Kept:
        """The queue, as plain numbers."""
        turns: Iterable[Turn] = self._queue[self._first :]
        return tuple((turn.rows, turn.right, turn.wrong, *turn.pending) for turn in turns)

"""Ids of the last decisions in a log, so that a request sent again is not written twice."""

from collections.abc import Iterable, Mapping
from typing import Any, final

from abstain.decision_log.record import AUDITED, is_label

REMEMBERED = 500_000
KEY = ("confidence", "accepted", "group")
"""What makes two decisions of one id the same."""


@final
class RecentDecisions:
    """The decisions of the last 500,000 ids at least, twice as many at most; labels too."""

    def __init__(self) -> None:
        self._newer: dict[str, set[int]] = {}
        self._older: dict[str, set[int]] = {}
        self._drawn: dict[str, None] = {}

    def is_known(self, record: Mapping[str, Any], /) -> bool:
        """Whether this decision was written before, by an earlier call, or this label is the last of its id."""
        return _digest(record) in self._of(record["id"])

    def decisions(self, name: str, /) -> int:
        """How many different decisions an id has."""
        return sum(digest & 1 for digest in self._of(name))

    def is_drawn(self, name: str, /) -> bool:
        """Whether an audit asked for the label of this id."""
        return name in self._drawn

    def remember(self, records: Iterable[Mapping[str, Any]], /) -> None:
        """Add what has been written."""
        for record in records:
            if len(self._newer) >= REMEMBERED:
                self._newer, self._older = {}, self._newer
            known = self._newer.setdefault(record["id"], set())
            known |= self._older.pop(record["id"], set())
            if is_label(record):
                known -= {digest for digest in known if not digest & 1}
            known.add(_digest(record))
            if record.get("review") == AUDITED:
                self._drawn[record["id"]] = None
                if len(self._drawn) > REMEMBERED:
                    del self._drawn[next(iter(self._drawn))]

    def _of(self, name: str) -> set[int]:
        return self._newer.get(name) or self._older.get(name) or set()


def _digest(record: Mapping[str, Any]) -> int:
    """Of a decision an odd number, of a label an even one."""
    if is_label(record):
        return hash(record["error"]) << 1
    return hash((str(record.get("confidence")), *(record.get(name) for name in KEY[1:]))) << 1 | 1

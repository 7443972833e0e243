"""Ids of the last decisions in a log, so that a request sent again is not written twice."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, final

from abstain.decision_log.record import AUDITED, is_label

REMEMBERED = 500_000
T = TypeVar("T")
KEY = ("confidence", "accepted", "group")
"""What makes two decisions of one id the same."""


@final
class RecentDecisions:
    """Decisions and labels of the last 500,000 ids."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, set[int]] = OrderedDict()
        self._drawn: OrderedDict[str, None] = OrderedDict()

    def is_known(self, record: Mapping[str, Any], /) -> bool:
        """Whether this decision, or this as the latest label of its id, was written before."""
        return _digest(record) in self._known.get(record["id"], ())

    def decisions(self, name: str, /) -> int:
        """How many different decisions an id has."""
        return sum(digest & 1 for digest in self._known.get(name, ()))

    def is_drawn(self, name: str, /) -> bool:
        """Whether an audit asked for the label of this id."""
        return name in self._drawn

    def remember(self, records: Iterable[Mapping[str, Any]], /) -> None:
        """Add what has been written."""
        for record in records:
            known = _latest(self._known, record["id"], set())
            if is_label(record):
                known -= {digest for digest in known if not digest & 1}
            known.add(_digest(record))
            if record.get("review") == AUDITED:
                _latest(self._drawn, record["id"], None)


def _latest(known: OrderedDict[str, T], name: str, new: T) -> T:
    """The entry of an id, which is now the latest; the oldest is forgotten where there are too many."""
    value = known.setdefault(name, new)
    known.move_to_end(name)
    if len(known) > REMEMBERED:
        known.popitem(last=False)
    return value


def _digest(record: Mapping[str, Any]) -> int:
    """Of a decision an odd number, of a label an even one."""
    if is_label(record):
        return hash(record["error"]) << 1
    return hash((str(record.get("confidence")), *(record.get(name) for name in KEY[1:]))) << 1 | 1

"""Rows of clusters that may still grow."""

from collections.abc import Iterator
from typing import final

from abstain.monitor.clusters import in_turn
from abstain.monitor.row import Row
from abstain.monitor.seen import Fresh

Numbered = tuple[int, Fresh]
"""A row with its number."""
Key = str | int
"""What tells clusters apart: the id of their rows, or the number of a row that has none."""


@final
class OpenClusters:
    """Rows that have come, by cluster, until `close`; it changes as rows come."""

    def __init__(self) -> None:
        self._rows: dict[Key, list[Numbered]] = {}
        self._last: Key | None = None

    def holds(self, row: Row, /) -> bool:
        """Whether the cluster of a row has begun."""
        return row.id in self._rows

    def add(self, number: int, one: Fresh, /) -> None:
        """A further row; one without an id is a cluster of its own."""
        self._last = number if one.row.id is None else one.row.id
        self._rows.setdefault(self._last, []).append((number, one))

    def close(self, *, last: bool) -> Iterator[tuple[str, list[Numbered]]]:
        """Remove clusters, by name and rows, in the order of `in_turn`; that of the ``last`` row may stay."""
        spans = {key: (rows[0][0], rows[-1][0]) for key, rows in self._rows.items() if last or key != self._last}
        for key in in_turn(spans):
            yield str(key), self._rows.pop(key)

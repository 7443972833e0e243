"""Which rows have been counted, by their ids, in a few bytes each, and the queue of labels that wait."""

from base64 import b64decode, b64encode
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np

from abstain._arrays import Ints
from abstain._errors import InvalidInputError
from abstain._kernels.decision_tables import (
    BASE,
    CONTENT,
    FIRST,
    INPUT,
    KEY,
    LAST,
    NEWER,
    NOWHERE,
    PLACE,
    QUEUED,
    find_keys,
    refill,
)  # fmt: skip
from abstain._kernels.decisions import FLAG_BITS, LABELLED

REMEMBERED = 500_000
SMALLEST = 64  # slots of a table
TURN = 6  # numbers of a turn in the queue
ENTRY = np.dtype([("key", "<i8"), ("decision", "<u4"), ("flags", "<u2")])
SavedTurns = tuple[tuple[int, ...], ...]


def _table(slots: int) -> Ints:
    return np.zeros((slots, 5), dtype=np.int64)


@final
@dataclass(frozen=True, eq=False)
class Memory:
    """The last 500,000 rows with ids at least, twice as many at most, and decisions whose labels may come.

    A row is recognised by its id: its decision counts once and its label counts once, whenever they come.

    - The same id with another confidence, verdict or domain is another decision. So is the k-th row of an input with
      equal values in all of these; it is recognised as the k-th of another input.
    - A row without a confidence or a verdict matches any decision in it. Rows are compared with the first decision of
      their id, as its first row gave it.
    - A label without a decision stays with the decision it was first assigned to, so an input given again changes
      nothing, whatever came in between.
    - A label that differs from the known one belongs to the next equal decision with this label or none; if there is no
      such decision, it is left out.

    Any two of a million ids share a digest with probability 3e-8.

    Compiled code changes the arrays in place: see `abstain._kernels.decision_tables`.
    """

    newer: Ints
    older: Ints
    queue: Ints
    forgotten: int = 0

    @classmethod
    def empty(cls) -> Self:
        """No rows."""
        return cls(_table(SMALLEST), _table(SMALLEST), np.zeros((SMALLEST, TURN), dtype=np.int64))

    def with_room(self, entries: int, turns: int, counts: Ints, /) -> Self:
        """The same with room for so many more entries and turns; ``counts`` changes with it."""
        memory = self
        if counts[NEWER] >= REMEMBERED:
            keys = np.ascontiguousarray(self.older[self.older[:, KEY] != 0, KEY])
            slots = np.empty(len(keys), dtype=np.int64)
            find_keys(keys, self.newer, slots)
            lost = int(np.count_nonzero(slots < 0))
            memory = replace(self, newer=_table(SMALLEST), older=self.newer, forgotten=self.forgotten + lost)
            counts[NEWER] = 0
        needed = (int(counts[NEWER]) + entries) * 5 // 4
        if needed > len(memory.newer):
            larger = _table(1 << (needed - 1).bit_length())
            refill(memory.newer, larger)
            memory = replace(memory, newer=larger)
        if counts[LAST] - counts[BASE] + turns > len(memory.queue):
            held = memory.queue[counts[FIRST] - counts[BASE] : counts[LAST] - counts[BASE]]
            queue = np.zeros((2 * (len(held) + turns), TURN), dtype=np.int64)
            queue[: len(held)] = held
            counts[BASE] = counts[FIRST]
            memory = replace(memory, queue=queue)
        return memory

    def turns(self, counts: Ints, /) -> Ints:
        """(n, 6) rows, right, wrong, pending, group and whether the cluster continues, of those that wait."""
        return self.queue[counts[FIRST] - counts[BASE] : counts[LAST] - counts[BASE]]

    def saved_turns(self, counts: Ints, /) -> SavedTurns:
        """The queue as plain numbers, the keys of pending labels last; 0 for one that was forgotten."""
        entries = np.concatenate([table[table[:, KEY] != 0] for table in (self.newer, self.older)])
        waiting = entries[(entries[:, PLACE] >= counts[FIRST]) & (entries[:, CONTENT] & LABELLED == 0)]
        keys: dict[int, dict[int, None]] = {}
        for entry in waiting.tolist():
            keys.setdefault(entry[PLACE], {})[entry[KEY]] = None
        queue = []
        for number, turn in enumerate(self.turns(counts).tolist(), start=int(counts[FIRST])):
            rows, right, wrong, pending, group, continues = turn
            known = sorted(keys.get(number, ()))[:pending]
            queue.append((rows, right, wrong, group, continues, *known, *[0] * (pending - len(known))))
        return tuple(queue)

    def to_texts(self) -> tuple[str, str]:
        """The newer and the older half as text, without rows of clusters that are open."""
        return _packed(self.newer), _packed(self.older)

    @classmethod
    def from_texts(
        cls, newer: str, older: str, saved: SavedTurns, counts: Ints, /, *, forgotten: int, groups: int = 0
    ) -> Self:
        """What `to_texts` and `saved_turns` wrote; ``counts`` changes with it. Turns are of this many ``groups``."""
        if not all(_is_turn(each, groups) for each in saved) or (saved and saved[-1][4]):
            raise InvalidInputError("`text` must be the state of a monitor, got labels without decisions.")
        tables = [_unpacked(text) for text in (newer, older)]
        counts[NEWER] = np.count_nonzero(tables[0][:, KEY])
        queue = np.zeros((max(SMALLEST, 2 * len(saved)), TURN), dtype=np.int64)
        for number, (rows, right, wrong, group, continues, *pending) in enumerate(saved):
            queue[number] = rows, right, wrong, len(pending), group, continues
            keys = np.array([key for key in pending if key], dtype=np.int64)
            for table in tables:
                slots = np.empty(len(keys), dtype=np.int64)
                find_keys(keys, table, slots)
                table[slots[slots >= 0], PLACE] = number
            counts[QUEUED] += right + wrong + len(pending)
        counts[LAST] = len(saved)
        return cls(tables[0], tables[1], queue, forgotten)


def _is_turn(turn: tuple[int, ...], groups: int) -> bool:
    """Whether numbers can be a turn of a state with so many groups."""
    if len(turn) < 5 or min(turn[:3]) < 0 or turn[0] < turn[1] + turn[2] + len(turn[5:]):
        return False
    return -1 <= turn[3] < groups and turn[4] in (0, 1) and (turn[4] == 0 or sum(turn[1:3]) + len(turn[5:]) > 0)


def _packed(table: Ints) -> str:
    entries = table[(table[:, KEY] != 0) & (table[:, CONTENT] != 0) & (table[:, PLACE] > -2)]
    entries = entries[np.argsort(entries[:, KEY])]
    packed = np.empty(len(entries), dtype=ENTRY)
    packed["key"], packed["decision"], packed["flags"] = (
        entries[:, KEY],
        entries[:, CONTENT] >> FLAG_BITS,
        entries[:, CONTENT] & ((1 << FLAG_BITS) - 1),
    )
    return b64encode(packed.tobytes()).decode()


def _unpacked(text: str) -> Ints:
    try:
        packed: Any = np.frombuffer(b64decode(text, validate=True), dtype=ENTRY)
    except ValueError:
        packed = np.zeros(2, dtype=ENTRY)
    if (packed["key"][1:] <= packed["key"][:-1]).any() or (packed["flags"] == 0).any() or (packed["key"] == 0).any():
        raise InvalidInputError("`text` must be the state of a monitor, got damaged ids.")
    entries = _table(len(packed))
    entries[:, KEY], entries[:, PLACE], entries[:, INPUT] = packed["key"], NOWHERE, -1
    entries[:, CONTENT] = packed["decision"].astype(np.int64) << FLAG_BITS | packed["flags"]
    table = _table(max(SMALLEST, 1 << (2 * len(packed)).bit_length()))
    refill(entries, table)
    return table

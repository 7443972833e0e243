"""Which rows have been counted, by their ids, in a few bytes each."""

from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Self, final

import numpy as np

from abstain.monitor.row import Row

REMEMBERED = 500_000
DECIDED, LABELLED, ACCEPTED, REJECTED, SEVERAL = (1 << bit for bit in range(5))
ENTRY = np.dtype([("key", "<u8"), ("decision", "<u4"), ("flags", "u1")])
Entries = dict[int, int]
"""By the 64-bit digest of an id: a digest of the decision, and flags in the last 8 bits."""


@final
@dataclass(frozen=True)
class Fresh:
    """What is new in a row, and what was known of it."""

    row: Row
    key: int | None = None
    """Of its decision; None without an id."""
    decided: bool = False
    """Whether its decision came before."""
    labelled: bool = False
    """Whether its label came before."""
    known: bool = False
    """Whether a row of this id came before."""
    again: bool = False
    """Whether all of it was counted before, so that it is the same row again or a copy."""


@final
class Seen:
    """The ids of rows that were counted: the last 500,000 at least, twice as many at most, in 18 bytes of text each.

    A row is known again by its id. Its decision counts once and its label counts once, whenever they come. The same id
    with another confidence, verdict or domain is another decision. Any two of a million ids share a digest
    with probability 3e-8. This changes in place, as a live stream has no time for copies.
    """

    def __init__(self, newer: Entries | None = None, older: Entries | None = None, *, forgotten: int = 0) -> None:
        self.newer, self.older, self.forgotten = newer or {}, older or {}, forgotten

    def fresh(self, rows: Iterable[Row], /) -> tuple[list[Fresh], Entries]:
        """What is new in each row, or the row where all was counted before; and what `add` is to remember of them."""
        notes: Entries = {}
        return [Fresh(row) if row.id is None else self._new(row, row.id, notes) for row in rows], notes

    def add(self, notes: Entries, /) -> None:
        """Remember rows as counted; where there are too many, the older half is forgotten."""
        for key, entry in notes.items():
            self.newer[key] = entry
            if len(self.newer) >= REMEMBERED:
                self.forgotten += len(self.older.keys() - self.newer.keys())
                self.newer, self.older = {}, self.newer

    def _new(self, row: Row, name: str, notes: Entries) -> Fresh:
        key, decision = _digest(name, 8), _decision(row)
        entry = self._find(key, notes)
        known = bool(entry)
        if row.is_decision and _differs(entry, row, decision):
            if not entry & SEVERAL:
                notes[key] = entry | SEVERAL
            key = _digest(f"{name}\0{decision}\0{row.accepted}", 8)
            entry = self._find(key, notes)
        elif not row.is_decision and row.error is not None and entry & SEVERAL:
            raise ValueError(
                f"`id` must name one decision where a label comes without its confidence, got several of {name!r}. "
                "Repeat the confidence beside the label."
            )
        if (after := _after(entry, row, decision)) != entry:
            notes[key] = after
        left = _left(entry, row) if entry else row
        return Fresh(left or row, key, bool(entry & DECIDED), bool(entry & LABELLED), known, again=left is None)

    def _find(self, key: int, notes: Entries) -> int:
        return notes.get(key) or self.newer.get(key) or self.older.get(key, 0)

    def to_texts(self) -> tuple[str, str]:
        """The newer and the older half as text."""
        return _packed(self.newer), _packed(self.older)

    @classmethod
    def from_texts(cls, newer: str, older: str, /, *, forgotten: int = 0) -> Self:
        """What `to_texts` wrote, and how many had been forgotten."""
        return cls(_unpacked(newer), _unpacked(older), forgotten=forgotten)


def _differs(entry: int, row: Row, decision: int) -> bool:
    """Whether a decision is another one than that remembered under its id."""
    other = entry >> 8 and decision and entry >> 8 != decision
    return bool(other or (row.accepted is True and entry & REJECTED) or (row.accepted is False and entry & ACCEPTED))


def _after(entry: int, row: Row, decision: int) -> int:
    """The entry once the row is counted."""
    flags = DECIDED * row.is_decision | LABELLED * (row.error is not None)
    if row.is_decision:
        flags |= ACCEPTED * (row.accepted is True) | REJECTED * (row.accepted is False)
        entry |= 0 if entry >> 8 else decision << 8
    return entry | flags


def _left(entry: int, row: Row) -> Row | None:
    """The row without what was counted before; the verdict that was remembered goes with a late label."""
    counted = row.is_decision and bool(entry & DECIDED)
    error = None if entry & LABELLED else row.error
    if error is None and (counted or (row.error is not None and not row.is_decision)):
        return None
    verdict = True if entry & ACCEPTED else False if entry & REJECTED else row.accepted
    return replace(row, accepted=verdict, confidence=None if counted else row.confidence, error=error)


def _decision(row: Row) -> int:
    """A digest of confidence and domain, 0 where there is no confidence."""
    return 0 if row.confidence is None else _digest(f"{row.confidence!r}\0{row.domain}", 4) or 1


def _digest(text: str, size: int) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest(), "little")


def _packed(entries: Entries) -> str:
    keys, values = (np.fromiter(each, np.uint64, len(entries)) for each in (entries.keys(), entries.values()))
    order, found = np.argsort(keys), np.empty(len(entries), dtype=ENTRY)
    found["key"], found["decision"], found["flags"] = keys[order], values[order] >> 8, values[order] & 255
    return b64encode(found.tobytes()).decode()


def _unpacked(text: str) -> Entries:
    try:
        found = np.frombuffer(b64decode(text, validate=True), dtype=ENTRY)
    except ValueError:
        found = np.zeros(2, dtype=ENTRY)
    keys = found["key"].tolist()
    if (found["key"][1:] <= found["key"][:-1]).any() or (found["flags"] == 0).any():
        raise ValueError("`text` must be the state of a monitor, got ids that none has written.")
    values = zip(found["decision"].tolist(), found["flags"].tolist(), strict=True)
    return {key: decision << 8 | flags for key, (decision, flags) in zip(keys, values, strict=True)}

"""64-bit keys of names and decisions, tables of rows that were counted, by key, and a journal of their changes.

A table is an array (slots, 5) of open addressing, a power of two long: `KEY` (0 where a slot is empty), `CONTENT` (a
digest of the decision, and flags in the last 16 bits), `PLACE`, `INPUT` and `TIMES`. There are two, a newer and an
older one. Whatever changes in place is written to the journal first, so that `undo` restores it.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from abstain._arrays import Ints
from abstain._kernels.compilation import INSIDE, array, byte, compiled, given, whole

KEY, CONTENT, PLACE, INPUT, TIMES = range(5)
NOWHERE = -1  # value of `PLACE`; from 0 up it is the number of a turn, from −2 down that of a row of an open cluster
(
    NEWER,  # entries in the newer table
    FIRST,  # number of the first turn in the queue
    LAST,  # and of the next that will be
    BASE,  # number of the turn that the queue's array begins with
    QUEUED,  # rows that are accepted in the queue
    WINDOW,  # of these, after which a label is given up
    NOW,  # number of the input
    OPEN,  # rows of open clusters
    LATE_LABELS,
    LATE_ROWS,
    SKIPPED,
    DECISIONS,  # to accept
    LABELS,
    JOURNALED,
    POPPED,
    TOO_MANY,  # labels, and for how many accepted decisions, where these are fewer
    TOO_FEW,
    BAD,  # the first row whose label has several decisions, or −1
    COUNTS,
) = range(19)


class MonitorTables(NamedTuple):
    """What is known of the rows so far: the two tables, the queue, the journal and the counts."""

    newer: Ints
    older: Ints
    queue: Ints
    journal: Ints
    counts: Ints


TABLES = types.NamedTuple((*(array(whole, 2) for _ in range(4)), array(whole)), MonitorTables)


@compiled(**INSIDE)
def _slot(table, key):  # type: ignore[no-untyped-def]
    """Where a key is, or −1 − where it would be."""
    last = np.uint64(table.shape[0] - 1)
    slot = np.int64(np.uint64(key) & last)
    while table[slot, 0] != 0:
        if table[slot, 0] == key:
            return slot
        slot = np.int64(np.uint64(slot + 1) & last)
    return -1 - slot


@intrinsic
def _fetch(typingctx, table, slot):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Prefetch a row of a table."""

    def build(context, builder, sig, args):  # type: ignore[no-untyped-def]
        rows = make_array(sig.args[0])(context, builder, args[0])
        first = ir.Constant(ir.IntType(64), 0)
        address = cgutils.get_item_pointer(context, builder, sig.args[0], rows, [args[1], first])
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), kind)
        builder.call(function, [builder.bitcast(address, pointer), number(0), number(3), number(1)])  # to read, often
        return context.get_dummy_value()

    return types.void(table, slot), build


@compiled(**INSIDE)
def fetch_entry(tables, key):  # type: ignore[no-untyped-def]
    """Prefetch the entries of a key that will be read soon."""
    _fetch(tables.newer, np.int64(np.uint64(key) & np.uint64(tables.newer.shape[0] - 1)))
    _fetch(tables.older, np.int64(np.uint64(key) & np.uint64(tables.older.shape[0] - 1)))


@compiled(**INSIDE)
def note_change(tables, table, which, slot):  # type: ignore[no-untyped-def]
    """Copy a row of a table to the journal before it changes."""
    journal, at = tables.journal, tables.counts[JOURNALED]
    tables.counts[JOURNALED] += 1
    journal[at, 0], journal[at, 1] = which, slot
    for j in range(table.shape[1]):
        journal[at, 2 + j] = table[slot, j]
    journal[0, 8] = at + 1  # the number of changes, for `undo`


@compiled(**INSIDE)
def read_entry(tables, key, entry):  # type: ignore[no-untyped-def]
    """Copy the entry of a key; whether there is one."""
    slot = _slot(tables.newer, key)
    if slot >= 0:
        for j in range(5):
            entry[j] = tables.newer[slot, j]
        return True
    slot = _slot(tables.older, key)
    if slot >= 0:
        for j in range(5):
            entry[j] = tables.older[slot, j]
        return True
    entry[KEY], entry[CONTENT], entry[PLACE], entry[INPUT], entry[TIMES] = key, 0, NOWHERE, -1, 0
    return False


@compiled(**INSIDE)
def write_entry(tables, entry):  # type: ignore[no-untyped-def]
    """Put an entry into the newer table."""
    slot = _slot(tables.newer, entry[KEY])
    if slot < 0:
        slot = -1 - slot
        tables.counts[NEWER] += 1
    note_change(tables, tables.newer, 0, slot)
    for j in range(5):
        tables.newer[slot, j] = entry[j]


@compiled(**INSIDE)
def amend_entry(tables, entry):  # type: ignore[no-untyped-def]
    """Change an entry in its table, newer or older, so that reading an old one again removes no other."""
    slot = _slot(tables.newer, entry[KEY])
    if slot >= 0:
        note_change(tables, tables.newer, 0, slot)
        for j in range(1, 5):
            tables.newer[slot, j] = entry[j]
        return
    slot = _slot(tables.older, entry[KEY])
    if slot >= 0:
        note_change(tables, tables.older, 1, slot)
        for j in range(1, 5):
            tables.older[slot, j] = entry[j]
    else:
        write_entry(tables, entry)


@compiled((*(array(whole, 2) for _ in range(4)),))
def undo(newer, older, queue, journal):  # type: ignore[no-untyped-def]
    """Restore what the journal noted, the last change first; a second call changes nothing."""
    for at in range(journal[0, 8] - 1, -1, -1):
        table = newer if journal[at, 0] == 0 else older if journal[at, 0] == 1 else queue
        for j in range(table.shape[1]):
            table[journal[at, 1], j] = journal[at, 2 + j]


@compiled((array(whole, 2), array(whole, 2)))
def refill(entries, table):  # type: ignore[no-untyped-def]
    """Put entries (n, 5) of different keys into an empty table."""
    for k in range(entries.shape[0]):
        if entries[k, 0] != 0:
            slot = -1 - _slot(table, entries[k, 0])
            for j in range(5):
                table[slot, j] = entries[k, j]


@compiled((array(whole), array(whole, 2), array(whole)))
def find_keys(keys, table, slots):  # type: ignore[no-untyped-def]
    """Where each key is in a table; below 0 where it is not."""
    for k in range(keys.size):
        slots[k] = _slot(table, keys[k])


@compiled(**INSIDE)
def _mixed(x):  # type: ignore[no-untyped-def]
    """A one-to-one map of 64-bit numbers, each bit of which depends on all bits."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled(**INSIDE)
def joined_key(key, other):  # type: ignore[no-untyped-def]
    """A key made of two, never 0."""
    special = np.int64(_mixed(np.uint64(key) + _mixed(np.uint64(other) + np.uint64(0x9E3779B97F4A7C15))))
    return special if special != 0 else np.int64(1)


@compiled(**INSIDE)
def _rotated(x, bits):  # type: ignore[no-untyped-def]
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


@compiled(**INSIDE)
def _hashed(text, first, end):  # type: ignore[no-untyped-def]
    """SipHash-2-4 of bytes, with the key of its authors' test vectors."""
    k0, k1 = np.uint64(0x0706050403020100), np.uint64(0x0F0E0D0C0B0A0908)
    v0, v1 = k0 ^ np.uint64(0x736F6D6570736575), k1 ^ np.uint64(0x646F72616E646F6D)
    v2, v3 = k0 ^ np.uint64(0x6C7967656E657261), k1 ^ np.uint64(0x7465646279746573)
    length = end - first
    for block in range(length // 8 + 2):
        word = np.uint64(0)
        if block < length // 8:
            for j in range(8):
                word |= np.uint64(text[first + block * 8 + j]) << np.uint64(8 * j)
        elif block == length // 8:
            for j in range(length % 8):
                word |= np.uint64(text[first + block * 8 + j]) << np.uint64(8 * j)
            word |= np.uint64(length & 255) << np.uint64(56)
        else:
            v2 ^= np.uint64(255)
        v3 ^= word
        for _ in range(4 if block == length // 8 + 1 else 2):
            v0 += v1
            v2 += v3
            v1, v3 = _rotated(v1, 13) ^ v0, _rotated(v3, 16) ^ v2
            v0 = _rotated(v0, 32)
            v2 += v1
            v0 += v3
            v1, v3 = _rotated(v1, 17) ^ v2, _rotated(v3, 21) ^ v0
            v2 = _rotated(v2, 32)
        v0 ^= word
    return v0 ^ v1 ^ v2 ^ v3


@compiled((given(byte, 1), array(whole), array(whole), array(whole)))
def name_keys(text, starts, ends, keys):  # type: ignore[no-untyped-def]
    """Keys of names in ``text``, each from its start to its end; 0 of an empty one, and of no other."""
    for k in range(ends.size):
        key = np.int64(_hashed(text, starts[k], ends[k])) if ends[k] > starts[k] else 0
        keys[k] = 1 if key == 0 and ends[k] > starts[k] else key


@compiled((array(whole), array(whole), array(whole)))
def decision_digests(confidence, domain, digests):  # type: ignore[no-untyped-def]
    """32 bits of each confidence, given by its bits, and domain, given by its key; never 0."""
    for k in range(confidence.size):
        digest = np.int64(_mixed(np.uint64(confidence[k]) + _mixed(np.uint64(domain[k]))) >> np.uint64(32))
        digests[k] = digest if digest != 0 else 1

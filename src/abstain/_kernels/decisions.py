"""Decisions and labels, one row after the other: which were counted before, and whose turn has come.

A table of rows that were counted is an array (slots, 5) of open addressing, a power of two long: `KEY` (0 where a slot
is empty), `CONTENT` (a digest of the decision, and flags in the last 16 bits), `PLACE`, `INPUT` and `TIMES`. There are
two, a newer and an older one. A queue (turns, 4) holds rows, right and wrong labels, and labels that have not come.
Whatever changes in place is written to a journal first, so that `undo` restores it.
"""

import numpy as np
from numba import types
from numpy.typing import NDArray

from abstain._kernels.compilation import array, byte, compiled, flag, whole

Ints = NDArray[np.int64]
KEY, CONTENT, PLACE, INPUT, TIMES = range(5)
(
    DECIDED,
    LABELLED,
    ACCEPTED,
    REJECTED,
    SEVERAL,  # there are other decisions of this id
    UNTOLD,  # its first row had no verdict
    ALONE,  # a label came without a decision
    ENDS,  # one more label alone came when there was no next decision like this
    WRONG,  # its label is an error
    DISPUTED,  # the other label came when there was no next decision like this
) = (1 << bit for bit in range(10))
FLAG_BITS = 16
NOWHERE = -1  # as `PLACE`; from 0 on it is the number of a turn, from −2 down that of a row of an open cluster
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
small = types.int8


@compiled()
def _mixed(x):  # type: ignore[no-untyped-def]
    """A 64-bit number from another, one to one, every bit of which depends on all."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled()
def _joined(key, other):  # type: ignore[no-untyped-def]
    """The key of something more special, never 0."""
    joined = np.int64(_mixed(np.uint64(key) + _mixed(np.uint64(other) + np.uint64(0x9E3779B97F4A7C15))))
    return joined if joined != 0 else np.int64(1)


@compiled()
def _rotated(x, bits):  # type: ignore[no-untyped-def]
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


@compiled()
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


@compiled((array(byte), array(whole), array(whole)))
def name_keys(text, ends, keys):  # type: ignore[no-untyped-def]
    """Keys of names that follow each other in ``text``, each up to its end; 0 of an empty one, and of no other."""
    first = 0
    for k in range(ends.size):
        end = ends[k]
        if end > first:
            key = np.int64(_hashed(text, first, end))
            keys[k] = key if key != 0 else 1
        else:
            keys[k] = 0
        first = end


@compiled((array(whole), array(whole), array(whole)))
def decision_digests(confidence, domain, digests):  # type: ignore[no-untyped-def]
    """32 bits of each confidence, given by its bits, and domain, given by its key; never 0."""
    for k in range(confidence.size):
        digest = np.int64(_mixed(np.uint64(confidence[k]) + _mixed(np.uint64(domain[k]))) >> np.uint64(32))
        digests[k] = digest if digest != 0 else 1


@compiled()
def _slot(table, key):  # type: ignore[no-untyped-def]
    """Where a key is, or −1 − where it would be."""
    last = np.uint64(table.shape[0] - 1)
    slot = np.int64(np.uint64(key) & last)
    while table[slot, 0] != 0:
        if table[slot, 0] == key:
            return slot
        slot = np.int64(np.uint64(slot + 1) & last)
    return -1 - slot


@compiled()
def _note(journal, counts, table, which, slot):  # type: ignore[no-untyped-def]
    """What a row of a table holds before it changes."""
    at = counts[JOURNALED]
    counts[JOURNALED] += 1
    journal[at, 0], journal[at, 1] = which, slot
    for j in range(table.shape[1]):
        journal[at, 2 + j] = table[slot, j]
    journal[0, 7] = at + 1  # so that whoever undoes knows how many there are


@compiled()
def _read(newer, older, key, entry):  # type: ignore[no-untyped-def]
    """Copy what is known under a key; whether anything is."""
    slot = _slot(newer, key)
    if slot >= 0:
        for j in range(5):
            entry[j] = newer[slot, j]
        return True
    slot = _slot(older, key)
    if slot >= 0:
        for j in range(5):
            entry[j] = older[slot, j]
        return True
    entry[KEY], entry[CONTENT], entry[PLACE], entry[INPUT], entry[TIMES] = key, 0, NOWHERE, -1, 0
    return False


@compiled()
def _write(newer, journal, counts, entry):  # type: ignore[no-untyped-def]
    """Put an entry into the newer table."""
    slot = _slot(newer, entry[KEY])
    if slot < 0:
        slot = -1 - slot
        counts[NEWER] += 1
    _note(journal, counts, newer, 0, slot)
    for j in range(5):
        newer[slot, j] = entry[j]


@compiled()
def _amend(newer, older, journal, counts, entry):  # type: ignore[no-untyped-def]
    """Change an entry where it is: what is only looked at again pushes nothing out."""
    slot = _slot(newer, entry[KEY])
    if slot >= 0:
        _note(journal, counts, newer, 0, slot)
        for j in range(1, 5):
            newer[slot, j] = entry[j]
        return
    slot = _slot(older, entry[KEY])
    if slot >= 0:
        _note(journal, counts, older, 1, slot)
        for j in range(1, 5):
            older[slot, j] = entry[j]
    else:
        _write(newer, journal, counts, entry)


@compiled()
def _differs(content, accepted, decision):  # type: ignore[no-untyped-def]
    """Whether a decision is another one than the first of its id, by what the first row of that had."""
    if content >> FLAG_BITS != 0 and decision != 0 and content >> FLAG_BITS != decision:
        return True
    if content & UNTOLD != 0:
        return False
    return (accepted == 1 and content & REJECTED != 0) or (accepted == 0 and content & ACCEPTED != 0)


@compiled()
def _is_other(content, error):  # type: ignore[no-untyped-def]
    """Whether a label is another than the one that is known."""
    return error >= 0 and content & LABELLED != 0 and (content & WRONG != 0) != (error == 1)


@compiled()
def _of_rank(newer, older, first, which, own):  # type: ignore[no-untyped-def]
    """Copy what is known of the decision ``which`` like the first; whether anything is."""
    if which > 1:
        return _read(newer, older, _joined(first[KEY], -which), own)
    for j in range(5):
        own[j] = first[j]
    return True


@compiled()
def _agreeing(newer, older, journal, counts, first, which, error, own):  # type: ignore[no-untyped-def]
    """From the decision ``which`` on, the first of its like that has this label or none; 0 if there is none.

    Where there was none, there is none later, so that an input given again changes nothing.
    """
    while _is_other(own[CONTENT], error):
        if own[CONTENT] & DISPUTED != 0:
            return 0
        if not _of_rank(newer, older, first, which + 1, own):
            _dispute(newer, older, journal, counts, first, which, own)
            return 0
        which += 1
    return which


@compiled()
def _dispute(newer, older, journal, counts, first, which, own):  # type: ignore[no-untyped-def]
    """Note that the other label of this decision is that of no next one."""
    if which == 1:
        first[CONTENT] |= DISPUTED  # written by whoever holds it
        return
    _of_rank(newer, older, first, which, own)
    own[CONTENT] |= DISPUTED
    _amend(newer, older, journal, counts, own)


@compiled()
def _push(queue, counts, rows, right, wrong, pending):  # type: ignore[no-untyped-def]
    at = counts[LAST] - counts[BASE]
    queue[at, 0], queue[at, 1], queue[at, 2], queue[at, 3] = rows, right, wrong, pending
    counts[LAST] += 1
    counts[QUEUED] += right + wrong + pending


@compiled()
def _label(queue, journal, counts, turn, error):  # type: ignore[no-untyped-def]
    """The label of an earlier decision; it is left out where that was given up."""
    if turn < counts[FIRST]:
        counts[LATE_LABELS] += 1
        return
    at = turn - counts[BASE]
    _note(journal, counts, queue, 2, at)
    queue[at, 3] -= 1
    queue[at, 2 if error == 1 else 1] += 1


@compiled()
def _due(queue, counts, number, popped):  # type: ignore[no-untyped-def]
    """Remove those whose turn has come, and note what their labels are."""
    while counts[FIRST] < counts[LAST]:
        at = counts[FIRST] - counts[BASE]
        rows, right, wrong, pending = queue[at, 0], queue[at, 1], queue[at, 2], queue[at, 3]
        if pending > 0 and counts[QUEUED] - (right + wrong + pending) < counts[WINDOW]:
            return
        counts[FIRST] += 1
        counts[QUEUED] -= right + wrong + pending
        if right + wrong > 0:
            k = counts[POPPED]
            popped[k, 0], popped[k, 1], popped[k, 2], popped[k, 3] = number, rows, right, wrong
            counts[POPPED] += 1


@compiled(
    (
        *(array(kind) for kind in (whole, whole, small, small, flag)),
        *(array(whole, 2) for _ in range(4)),
        array(whole),
        *(whole, flag, flag),
        *(array(whole, 2) for _ in range(2)),
    )
)
def take_rows(  # type: ignore[no-untyped-def]
    keys, decisions, accepted, errors, has_confidence,
    newer, older, queue, journal, counts, start, clustered, has_risk, left, popped,
):  # fmt: skip
    """Take rows: what is new of each goes to ``left``, turns that have come to ``popped``; tables and queue change.

    The columns of ``left``: whether it is counted (1), skipped (0) or waits for its cluster (2); its verdict, whether a
    decision is new, whether a confidence is, its error; its key; whether it is a row of its own in its cluster; whether
    its label came before; the index in the open clusters of the row whose label it is, or −1. A verdict or an error
    that is not known is −1.
    """
    entry, own = np.empty(5, np.int64), np.empty(5, np.int64)
    for i in range(keys.size):
        verdict, error, key = np.int64(accepted[i]), np.int64(errors[i]), keys[i]
        is_decision = has_confidence[i] or (verdict >= 0 and error < 0)
        new_decision, new_confidence, new_error = is_decision, has_confidence[i], error
        decided = labelled = known = again = is_open = several = ends = False
        own[KEY], own[PLACE] = 0, NOWHERE
        if key != 0:
            _read(newer, older, key, entry)
            known, is_open = entry[CONTENT] != 0, entry[PLACE] <= -2
            if is_decision and _differs(entry[CONTENT], verdict, decisions[i]):
                if entry[CONTENT] & SEVERAL == 0:
                    entry[CONTENT] |= SEVERAL
                    _write(newer, journal, counts, entry)
                _read(newer, older, _joined(_joined(key, decisions[i]), verdict + 1), entry)
            several = entry[CONTENT] & SEVERAL != 0
            own[:] = entry
            if is_decision or error >= 0:
                if entry[INPUT] != counts[NOW]:
                    entry[INPUT], entry[TIMES] = counts[NOW], 0
                times, labels = entry[TIMES] >> 32, entry[TIMES] & 0xFFFFFFFF
                if is_decision and (error < 0 or labels >= times):
                    times += 1
                    which = times
                    labels = max(labels, which) if error >= 0 else labels
                elif is_decision or labels == 0:
                    labels += 1
                    which = labels
                else:  # a label alone: of the next decision like this, or else the last label again, then and later
                    if labels >= times:
                        _of_rank(newer, older, entry, labels, own)
                        ended = own[CONTENT] & ENDS != 0
                        ends = ended or not _of_rank(newer, older, entry, labels + 1, own)
                    labels += 0 if ends else 1
                    which = labels
                _of_rank(newer, older, entry, which, own)
                if not ends and _is_other(own[CONTENT], error):  # no label again, but that of a next decision like this
                    if is_decision and own[CONTENT] & DECIDED == 0:
                        _dispute(newer, older, journal, counts, entry, which, own)
                    else:
                        rank = _agreeing(newer, older, journal, counts, entry, which, error, own)
                        labels = rank if rank > 0 and not is_decision and which >= times else labels
                        which = rank if rank > 0 else which
                entry[TIMES] = (times << 32) | labels
                if which > 1:
                    _amend(newer, older, journal, counts, entry)
                _of_rank(newer, older, entry, which, own)
                content = own[CONTENT]
                decided, labelled = content & DECIDED != 0, content & LABELLED != 0
                new_error = -1 if labelled else error
                again = content != 0 and new_error < 0 and ((is_decision and decided) or not is_decision)
                if content != 0 and not again:
                    verdict = 1 if content & ACCEPTED != 0 else 0 if content & REJECTED != 0 else verdict
                    new_decision = is_decision and not decided
                    new_confidence = new_confidence and not decided
                content |= 0 if new_error < 0 else LABELLED | WRONG if new_error == 1 else LABELLED
                if not is_decision:
                    content |= ALONE | (ENDS if ends else 0)
                elif not decided:
                    content |= DECIDED | (decisions[i] << FLAG_BITS) | (UNTOLD if accepted[i] < 0 else 0)
                if is_decision and content & (ACCEPTED | REJECTED) == 0:
                    content |= ACCEPTED if accepted[i] == 1 else REJECTED if accepted[i] == 0 else 0
                if several and not is_decision and content != own[CONTENT]:  # a label alone that has not come before
                    counts[BAD] = i
                    return
                if content != own[CONTENT]:
                    own[CONTENT] = content
                    _write(newer, journal, counts, own)
                elif which == 1:
                    _amend(newer, older, journal, counts, own)
        for j in range(left.shape[1]):
            left[i, j] = 0
        left[i, 8] = -1
        if not again:
            counts[DECISIONS] += 1 if new_decision and verdict == 1 else 0
            counts[LABELS] += 1 if new_error >= 0 and verdict != 0 else 0
            if new_error >= 0 and verdict < 0 and 0 < counts[DECISIONS] < counts[LABELS]:
                counts[TOO_MANY], counts[TOO_FEW] = counts[LABELS], counts[DECISIONS]
        is_label = decided and not (is_decision if again else new_decision)
        if again and (is_label or not is_open or not clustered):
            counts[SKIPPED] += 1
            continue
        if clustered and not (is_label and not is_open):
            if known and not is_open:
                counts[LATE_ROWS] += 1
                continue
            left[i, 0] = 2
            if is_label and own[PLACE] <= -2:
                left[i, 8] = -2 - own[PLACE] if verdict != 0 else -1
            elif key != 0:
                own[PLACE] = -2 - counts[OPEN]
                _amend(newer, older, journal, counts, own)
                if not is_open:
                    _read(newer, older, key, entry)
                    entry[PLACE] = own[PLACE]
                    _amend(newer, older, journal, counts, entry)
            counts[OPEN] += 1
        else:
            left[i, 0] = 0 if clustered else 1
        left[i, 1], left[i, 2], left[i, 3] = verdict, 1 if new_decision else 0, 1 if new_confidence else 0
        left[i, 4], left[i, 5] = new_error, own[KEY]
        left[i, 6], left[i, 7] = 0 if decided else 1, 1 if labelled else 0
        if left[i, 0] == 2 or not has_risk:
            continue
        if new_error >= 0 and decided and verdict != 0:
            _label(queue, journal, counts, own[PLACE], new_error)
        elif not clustered and verdict != 0:
            if new_error >= 0:
                _push(queue, counts, 1, 1 - new_error, new_error, 0)
            elif new_decision and key != 0 and not labelled:
                own[PLACE] = counts[LAST]
                _amend(newer, older, journal, counts, own)
                _push(queue, counts, 1, 0, 0, 1)
        _due(queue, counts, start + i, popped)


@compiled(
    (
        array(whole, 2),
        *(array(whole) for _ in range(3)),
        *(array(whole, 2) for _ in range(4)),
        array(whole),
        flag,
        array(whole, 2),
    )
)
def close_clusters(  # type: ignore[no-untyped-def]
    clusters, keys, pending_ends, pending, newer, older, queue, journal, counts, has_risk, popped,
):  # fmt: skip
    """Add clusters to the queue, in this order, and remove those whose turn has come.

    ``clusters`` (n, 4): the number of the last row of all so far, rows, right and wrong labels. ``keys`` are those
    of all their rows, which are no longer open; those in ``pending``, up to the end of each cluster, wait for labels.
    """
    entry = np.empty(5, np.int64)
    for key in keys:
        if key != 0 and _read(newer, older, key, entry) and entry[PLACE] <= -2:
            entry[PLACE] = NOWHERE
            _amend(newer, older, journal, counts, entry)
    first = 0
    for k in range(clusters.shape[0] if has_risk else 0):
        number, rows, right, wrong = clusters[k, 0], clusters[k, 1], clusters[k, 2], clusters[k, 3]
        waiting = pending_ends[k] - first
        for j in range(first, pending_ends[k]):
            if _read(newer, older, pending[j], entry):
                entry[PLACE] = counts[LAST]
                _amend(newer, older, journal, counts, entry)
        first = pending_ends[k]
        if right + wrong + waiting > 0:
            _push(queue, counts, rows, right, wrong, waiting)
        _due(queue, counts, number, popped)


@compiled((*(array(whole, 2) for _ in range(4)),))
def undo(newer, older, queue, journal):  # type: ignore[no-untyped-def]
    """Restore what the journal noted, the last change first; done twice it is done once."""
    for at in range(journal[0, 7] - 1, -1, -1):
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

"""Decisions and labels of a monitored stream: what is new in each row, and which labels count next.

Earlier rows are in the tables of `abstain._kernels.decision_tables`. Labels count in the order of their decisions, for
which there is a queue (turns, 6): rows, labels that are right, labels that are wrong, labels still missing, the group,
and whether the next turn belongs to the same cluster, in another group. A cluster leaves the queue as a whole.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from abstain._arrays import Ints
from abstain._kernels.compilation import INSIDE, array, compiled, flag, whole
from abstain._kernels.decision_tables import (
    BAD,
    BASE,
    CONTENT,
    DECISIONS,
    FIRST,
    INPUT,
    KEY,
    LABELS,
    LAST,
    LATE_LABELS,
    LATE_ROWS,
    NOW,
    NOWHERE,
    OPEN,
    PLACE,
    POPPED,
    QUEUED,
    SKIPPED,
    TABLES,
    TIMES,
    TOO_FEW,
    TOO_MANY,
    WINDOW,
    amend_entry,
    fetch_entry,
    joined_key,
    note_change,
    read_entry,
    write_entry,
)  # fmt: skip

(
    DECIDED,
    LABELLED,
    ACCEPTED,
    REJECTED,
    SEVERAL,  # this id has other decisions too
    NO_VERDICT,  # its first row had no verdict
    ALONE,  # a label came before its decision
    ENDS,  # one more label came, but there was no next equal decision
    WRONG,  # its label is an error
    DISPUTED,  # the opposite label came, but there was no next equal decision
) = (1 << bit for bit in range(10))
FLAG_BITS = 16
AHEAD_ROWS = 12


class DecisionRows(NamedTuple):
    """New rows, (n,) each: −1 is an unknown verdict or error, 0 the key of a row without a name."""

    keys: Ints
    digests: Ints
    verdicts: NDArray[np.int8]
    errors: NDArray[np.int8]
    has_confidence: NDArray[np.bool_]
    groups: Ints
    """The number of the group, −1 for none."""


class News(NamedTuple):
    """What is new in a row, given earlier ones."""

    verdict: Any
    error: Any
    is_decision: Any
    has_confidence: Any
    was_decided: bool
    was_labelled: bool
    is_known: bool
    """Whether its id is."""
    is_open: bool
    """Whether it is so as that of a row of an open cluster."""
    is_again: Any
    """Whether nothing is new."""
    is_label: bool
    """Whether it is the label of an earlier decision."""


ROWS = types.NamedTuple(
    tuple(array(kind) for kind in (whole, whole, types.int8, types.int8, flag, whole)), DecisionRows
)


@compiled(**INSIDE)
def _differs(content, accepted, decision):  # type: ignore[no-untyped-def]
    """Whether a decision differs from the first one of its id."""
    if content >> FLAG_BITS != 0 and decision != 0 and content >> FLAG_BITS != decision:
        return True
    if content & NO_VERDICT != 0:
        return False
    return (accepted == 1 and content & REJECTED != 0) or (accepted == 0 and content & ACCEPTED != 0)


@compiled(**INSIDE)
def _is_other(content, error):  # type: ignore[no-untyped-def]
    """Whether a label contradicts the known one."""
    return error >= 0 and content & LABELLED != 0 and (content & WRONG != 0) != (error == 1)


@compiled(**INSIDE)
def _of_rank(tables, first, rank, own):  # type: ignore[no-untyped-def]
    """Copy the entry of the decision of this rank among equal ones, 1 for the first; whether there is one."""
    if rank > 1:
        return read_entry(tables, joined_key(first[KEY], -rank), own)
    for j in range(5):
        own[j] = first[j]
    return True


@compiled(**INSIDE)
def _agreeing(tables, first, rank, error, own):  # type: ignore[no-untyped-def]
    """From this rank on, that of the first equal decision with this label or without any; 0 if there is none.

    Once there was none, there is none later either, so that an input given again changes nothing.
    """
    while _is_other(own[CONTENT], error):
        if own[CONTENT] & DISPUTED != 0:
            return 0
        if not _of_rank(tables, first, rank + 1, own):
            _dispute(tables, first, rank, own)
            return 0
        rank += 1
    return rank


@compiled(**INSIDE)
def _dispute(tables, first, rank, own):  # type: ignore[no-untyped-def]
    """Note that the opposite label of this decision belongs to no next one."""
    if rank == 1:
        first[CONTENT] |= DISPUTED  # written by the caller
        return
    _of_rank(tables, first, rank, own)
    own[CONTENT] |= DISPUTED
    amend_entry(tables, own)


@compiled(**INSIDE)
def _push(tables, turn):  # type: ignore[no-untyped-def]
    queue, counts = tables.queue, tables.counts
    at = counts[LAST] - counts[BASE]
    for j in range(6):
        queue[at, j] = turn[j]
    counts[LAST] += 1
    counts[QUEUED] += turn[1] + turn[2] + turn[3]


@compiled(**INSIDE)
def _label(tables, turn, error):  # type: ignore[no-untyped-def]
    """Count the label of an earlier decision, as late if that has left the queue."""
    queue, counts = tables.queue, tables.counts
    if turn < counts[FIRST]:
        counts[LATE_LABELS] += 1
        return
    at = turn - counts[BASE]
    note_change(tables, tables.queue, 2, at)
    queue[at, 3] -= 1
    queue[at, 2 if error == 1 else 1] += 1


@compiled(**INSIDE)
def _due(tables, number, popped):  # type: ignore[no-untyped-def]
    """Move turns from the queue to ``popped`` while they wait for no label or are too old, clusters as a whole."""
    queue, counts = tables.queue, tables.counts
    while counts[FIRST] < counts[LAST]:
        start = end = counts[FIRST] - counts[BASE]
        waiting = size = 0
        while end == start or (queue[end - 1, 5] != 0 and end < counts[LAST] - counts[BASE]):
            waiting += queue[end, 3]
            size += queue[end, 1] + queue[end, 2] + queue[end, 3]
            end += 1
        if waiting > 0 and counts[QUEUED] - size < counts[WINDOW]:
            return
        for at in range(start, end):
            if queue[at, 1] + queue[at, 2] > 0:
                k = counts[POPPED]
                popped[k, 0], popped[k, 4], popped[k, 5] = number, queue[at, 4], counts[FIRST]
                for j in range(3):
                    popped[k, 1 + j] = queue[at, j]
                counts[POPPED] += 1
        counts[FIRST] += end - start
        counts[QUEUED] -= size


@compiled(**INSIDE)
def _rank(tables, entry, own, is_decision, error):  # type: ignore[no-untyped-def]
    """The rank of a row's decision among equal ones, and whether it is a label for which no decision is left."""
    is_last = False
    if entry[INPUT] != tables.counts[NOW]:
        entry[INPUT], entry[TIMES] = tables.counts[NOW], 0
    times, labels = entry[TIMES] >> 32, entry[TIMES] & 0xFFFFFFFF
    if is_decision and (error < 0 or labels >= times):
        times += 1
        rank = times
        labels = max(labels, rank) if error >= 0 else labels
    elif is_decision or labels == 0:
        labels += 1
        rank = labels
    else:  # a label alone: of the next equal decision, or else the last label again, now and later
        if labels >= times:
            _of_rank(tables, entry, labels, own)
            is_last = own[CONTENT] & ENDS != 0 or not _of_rank(tables, entry, labels + 1, own)
        labels += 0 if is_last else 1
        rank = labels
    _of_rank(tables, entry, rank, own)
    if not is_last and _is_other(own[CONTENT], error):  # not the same label again, but that of a next equal decision
        if is_decision and own[CONTENT] & DECIDED == 0:
            _dispute(tables, entry, rank, own)
        else:
            agreeing = _agreeing(tables, entry, rank, error, own)
            labels = agreeing if agreeing > 0 and not is_decision and rank >= times else labels
            rank = agreeing if agreeing > 0 else rank
    entry[TIMES] = (times << 32) | labels
    if rank > 1:
        amend_entry(tables, entry)
    _of_rank(tables, entry, rank, own)
    return rank, is_last


@compiled(**INSIDE)
def _content(rows, i, before, is_decision, is_last):  # type: ignore[no-untyped-def]
    """The content of a decision's entry after a row of it."""
    verdict, error, content = rows.verdicts[i], rows.errors[i], before
    if error >= 0 and before & LABELLED == 0:
        content |= LABELLED | WRONG if error == 1 else LABELLED
    if not is_decision:
        content |= ALONE | (ENDS if is_last else 0)
    elif before & DECIDED == 0:
        content |= DECIDED | (rows.digests[i] << FLAG_BITS) | (NO_VERDICT if verdict < 0 else 0)
    if is_decision and content & (ACCEPTED | REJECTED) == 0:
        content |= ACCEPTED if verdict == 1 else REJECTED if verdict == 0 else 0
    return content


@compiled(**INSIDE)
def _recognised(rows, i, tables, entry, own):  # type: ignore[no-untyped-def]
    """What is new in a row, and whether its label is ambiguous; ``own`` becomes its entry, of key 0 if it has none."""
    verdict, error, key, digest = np.int64(rows.verdicts[i]), np.int64(rows.errors[i]), rows.keys[i], rows.digests[i]
    has_confidence = rows.has_confidence[i]
    is_decision = has_confidence or (verdict >= 0 and error < 0)
    own[KEY], own[PLACE] = 0, NOWHERE
    if key == 0:
        return News(verdict, error, is_decision, has_confidence, False, False, False, False, False, False), False
    read_entry(tables, key, entry)
    is_known, is_open = entry[CONTENT] != 0, entry[PLACE] <= -2
    if is_decision and _differs(entry[CONTENT], verdict, digest):
        if entry[CONTENT] & SEVERAL == 0:
            entry[CONTENT] |= SEVERAL
            write_entry(tables, entry)
        read_entry(tables, joined_key(joined_key(key, digest), verdict + 1), entry)
    for j in range(5):
        own[j] = entry[j]
    if not is_decision and error < 0:
        return News(verdict, error, False, False, False, False, is_known, is_open, False, False), False
    several = entry[CONTENT] & SEVERAL != 0
    rank, is_last = _rank(tables, entry, own, is_decision, error)
    before = own[CONTENT]
    decided, labelled = before & DECIDED != 0, before & LABELLED != 0
    content = _content(rows, i, before, is_decision, is_last)
    if several and not is_decision and content != before:  # a label alone that has not come before
        return News(verdict, error, False, False, decided, labelled, is_known, is_open, False, False), True
    if content != before:
        own[CONTENT] = content
        write_entry(tables, own)
    elif rank == 1:
        amend_entry(tables, own)
    error = -1 if labelled else error
    is_again = before != 0 and error < 0 and (decided or not is_decision)
    is_label = decided and not (is_decision and is_again)
    if before != 0 and not is_again:
        verdict = 1 if before & ACCEPTED != 0 else 0 if before & REJECTED != 0 else verdict
        is_decision, has_confidence = is_decision and not decided, has_confidence and not decided
    news = News(verdict, error, is_decision, has_confidence, decided, labelled, is_known, is_open, is_again, is_label)
    return news, False


@compiled(**INSIDE)
def _count(news, counts):  # type: ignore[no-untyped-def]
    """Count a decision to accept, and a label that may belong to one."""
    counts[DECISIONS] += 1 if news.is_decision and news.verdict == 1 else 0
    counts[LABELS] += 1 if news.error >= 0 and news.verdict != 0 else 0
    if news.error >= 0 and news.verdict < 0 and 0 < counts[DECISIONS] < counts[LABELS]:
        counts[TOO_MANY], counts[TOO_FEW] = counts[LABELS], counts[DECISIONS]


@compiled(**INSIDE)
def _open(tables, key, news, entry, own):  # type: ignore[no-untyped-def]
    """Add a row to the open clusters; the index there of the row whose label it is, or −1."""
    labelled = -1
    if news.is_label and own[PLACE] <= -2:
        labelled = -2 - own[PLACE] if news.verdict != 0 else -1
    elif key != 0:
        own[PLACE] = -2 - tables.counts[OPEN]
        amend_entry(tables, own)
        if not news.is_open:
            read_entry(tables, key, entry)
            entry[PLACE] = own[PLACE]
            amend_entry(tables, entry)
    tables.counts[OPEN] += 1
    return labelled


@compiled(**INSIDE)
def _enqueue(tables, key, news, own, clustered, turn):  # type: ignore[no-untyped-def]
    """Add a label to the turn of its decision; a row with a label, or that may get one, gets a ``turn`` of its own."""
    if news.error >= 0 and news.was_decided and news.verdict != 0:
        _label(tables, own[PLACE], news.error)
    elif not clustered and news.verdict != 0:
        turn[1], turn[2], turn[3] = 0, 0, 0
        if news.error >= 0:
            turn[2 if news.error == 1 else 1] = 1
            _push(tables, turn)
        elif news.is_decision and key != 0 and not news.was_labelled:
            own[PLACE] = tables.counts[LAST]
            amend_entry(tables, own)
            turn[3] = 1
            _push(tables, turn)


@compiled((ROWS, TABLES, whole, flag, flag, array(whole, 2), array(whole, 2)))
def take_rows(rows, tables, start, clustered, has_risk, left, popped):  # type: ignore[no-untyped-def]
    """Read rows: what is new of each goes to ``left``, turns that end go to ``popped``; tables and queue change.

    The columns of ``left``: whether it is counted (1), skipped (0) or waits for its cluster (2); its verdict, whether a
    decision is new, whether a confidence is, its error; its key; whether it is a row of its own in its cluster; whether
    its label came before; the index in the open clusters of the row whose label it is, or −1.
    """
    entry, own, counts = np.empty(5, np.int64), np.empty(5, np.int64), tables.counts
    turn = np.zeros(6, np.int64)
    turn[0] = 1
    for i in range(rows.keys.size):
        if i + AHEAD_ROWS < rows.keys.size:
            fetch_entry(tables, rows.keys[i + AHEAD_ROWS])
        left[i, :8], left[i, 8] = 0, -1
        news, is_ambiguous = _recognised(rows, i, tables, entry, own)
        if is_ambiguous:
            counts[BAD] = i
            return
        if not news.is_again:
            _count(news, counts)
        elif news.is_label or not news.is_open or not clustered:
            counts[SKIPPED] += 1
            continue
        joins = clustered and not (news.is_label and not news.is_open)
        if joins and news.is_known and not news.is_open:
            counts[LATE_ROWS] += 1
            continue
        if joins:
            left[i, 8] = _open(tables, rows.keys[i], news, entry, own)
        left[i, 0] = 2 if joins else 0 if clustered else 1
        left[i, 1], left[i, 2], left[i, 3] = news.verdict, news.is_decision, news.has_confidence
        left[i, 4], left[i, 5] = news.error, own[KEY]
        left[i, 6], left[i, 7] = not news.was_decided, news.was_labelled
        if has_risk and not joins:
            turn[4] = rows.groups[i]
            _enqueue(tables, rows.keys[i], news, own, clustered, turn)
            _due(tables, start + i, popped)


@compiled((array(whole, 2), array(whole), array(whole), array(whole), TABLES, flag, array(whole, 2)))
def close_clusters(turns, keys, pending_ends, pending, tables, has_risk, popped):  # type: ignore[no-untyped-def]
    """Add clusters to the queue, in this order, and remove turns that end.

    ``turns`` (n, 7): the number of the last row of all so far, and a turn as in the queue for each group of a cluster.
    ``keys`` are those of all their rows, which are no longer open; those in ``pending``, up to the end of each turn,
    wait for labels.
    """
    entry = np.empty(5, np.int64)
    for key in keys:
        if key != 0 and read_entry(tables, key, entry) and entry[PLACE] <= -2:
            entry[PLACE] = NOWHERE
            amend_entry(tables, entry)
    first = 0
    for k in range(turns.shape[0] if has_risk else 0):
        for j in range(first, pending_ends[k]):
            if read_entry(tables, pending[j], entry):
                entry[PLACE] = tables.counts[LAST]
                amend_entry(tables, entry)
        first = pending_ends[k]
        _push(tables, turns[k, 1:])
        if turns[k, 6] == 0:
            _due(tables, turns[k, 0], popped)

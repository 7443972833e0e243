"""What the monitors of a watch count: of rows as they come, and of clusters once they are closed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain._kernels.decision_tables import BAD, FIRST, JOURNALED, LAST, OPEN, POPPED, MonitorTables
from abstain._kernels.decisions import DecisionRows, close_clusters, take_rows
from abstain.monitor.clusters import (
    ERROR,
    HAS_CONFIDENCE,
    HOW,
    IS_DECISION,
    IS_ROW,
    ROW_KEY,
    VERDICT,
    WAITS,
    WAS_LABELLED,
    OpenRows,
    grouped,
    in_order,
    ranks,
)  # fmt: skip
from abstain.monitor.deployment import DeploymentMonitor
from abstain.monitor.history import Alarm
from abstain.monitor.memory import Memory
from abstain.monitor.monitor import ClusterValues
from abstain.monitor.recent import EMPTY, Recent
from abstain.monitor.rows import StreamRows

Ints = NDArray[np.int64]
Journal = Callable[[Memory, int], Ints]
"""Room to note so many changes to a memory, so that they can be undone."""


@final
@dataclass(frozen=True, eq=False)
class Counted:
    """What a monitor counts: the numbers of the rows at which it does, the values, and the groups."""

    numbers: Ints
    values: NDArray[np.float64]
    groups: Ints
    """Numbers of groups, −1 for none."""

    @classmethod
    def of(cls, numbers: Ints, outcomes: NDArray[np.float64], groups: Ints, /) -> Self:
        """Without those that do not count, which are NaN."""
        there = ~np.isnan(outcomes)
        return cls(numbers[there], outcomes[there], groups[there])

    def by_group(self) -> Iterator[tuple[int, "Counted"]]:
        """Those of each group, in the order they came."""
        at = np.flatnonzero(self.groups >= 0)
        if not len(at):
            return
        at = at[np.argsort(self.groups[at], kind="stable")]
        codes, starts = np.unique(self.groups[at], return_index=True)
        for code, rows in zip(codes.tolist(), np.split(at, starts[1:]), strict=True):
            yield code, Counted(self.numbers[rows], self.values[rows], self.groups[rows])


@final
@dataclass(frozen=True, eq=False)
class Outcomes:
    """What the monitors of all rows and those of the groups count, and the decisions and labels they count of."""

    all: dict[str, Counted]
    groups: dict[str, Counted]
    decisions: Counted
    labels: Counted


@final
@dataclass(frozen=True, eq=False)
class State:
    """The state of a watch, replaced in one step; the arrays of its memory change in place, and can be restored."""

    monitors: DeploymentMonitor
    alarms: tuple[Alarm, ...]
    memory: Memory
    counts: Ints
    """Numbers of `abstain._kernels.decision_tables`."""
    rows: int = 0
    too_large: int = 0
    open: tuple[OpenRows, ...] = ()
    """Rows of clusters that may grow, batch after batch."""
    recent: Recent = EMPTY
    unmatched: int = 0
    """Labels with ids of which no decision is known, of those read by this object."""


def count_rows(
    state: State, rows: StreamRows, groups: tuple[Sequence[str | None], Ints], journal: Journal, /
) -> tuple[State, OpenRows, Outcomes]:
    """The state after rows, those that wait for their clusters, and what counts now.

    ``groups`` are names, and the number of that of each row.
    """
    n, counts, start = len(rows), state.counts.copy(), state.rows + 1
    counts[[POPPED, JOURNALED, BAD]] = 0, 0, -1
    monitors, codes = _with_groups(state.monitors, *groups)
    memory = state.memory.with_room(3 * n, n, counts)
    popped = np.empty((n + int(counts[LAST] - counts[FIRST]), 6), dtype=np.int64)
    left, keys, parts = np.empty((n, 9), dtype=np.int64), rows.keys(), monitors.parts
    clustered = monitors.clustered
    tables = MonitorTables(memory.newer, memory.older, memory.queue, journal(memory, 7 * n), counts)
    taken = DecisionRows(keys, rows.decisions(), rows.accepted, rows.error, rows.has_confidence, codes)
    take_rows(taken, tables, start, clustered, "risk" in parts, left, popped)
    if counts[BAD] >= 0:
        raise InvalidInputError(
            "`id` must name a single decision if its label comes without the confidence, got several of "
            f"{rows.ids[counts[BAD]]!r}. Repeat the confidence with the label."
        )
    at = np.flatnonzero((left[:, IS_DECISION] == 1) & (left[:, VERDICT] >= 0) & (left[:, HOW] != WAITS))
    decisions = Counted(start + at, left[at, VERDICT].astype(np.float64), codes[at])
    outcomes = {} if clustered or "acceptance" not in parts else {"acceptance": decisions}
    of_groups = {} if clustered else {"acceptance": decisions}
    if not clustered:
        at = np.flatnonzero(left[:, HAS_CONFIDENCE])
        of_groups["scores"] = Counted(start + at, _usable(rows.confidence[at]), codes[at])
        outcomes |= {"scores": of_groups["scores"]} if "scores" in parts else {}
    alone = (left[:, IS_DECISION] == 0) & (left[:, ERROR] >= 0) & (left[:, IS_ROW] == 1) & (left[:, ROW_KEY] != 0)
    unmatched = state.unmatched + int(np.count_nonzero(alone & (left[:, HOW] != 0)))
    state = replace(state, monitors=monitors, memory=memory, counts=counts, rows=state.rows + n, unmatched=unmatched)
    state, result = _with_risk(state, popped, Outcomes(outcomes, of_groups, decisions, decisions))
    opened = OpenRows.none()
    if clustered:
        before = int(counts[OPEN] - np.count_nonzero(left[:, 0] == WAITS))
        opened = OpenRows.of(rows, keys, left, codes, start=start, before=before)
    return state, opened, result


def _with_groups(
    monitors: DeploymentMonitor, names: Sequence[str | None], rows: Ints
) -> tuple[DeploymentMonitor, Ints]:
    """Monitors for the groups that appear here, and the number of each row's group; rows have numbers of names."""
    if monitors.groups is None:
        return monitors, np.full(len(rows), -1)
    groups = monitors.groups.joined(name for name in dict.fromkeys(names) if name is not None)
    codes = groups.codes(names)
    unwatched = int(np.count_nonzero(((codes < 0) & [name is not None for name in names])[rows]))
    groups = replace(groups, unwatched=groups.unwatched + unwatched) if unwatched else groups
    return (monitors if groups is monitors.groups else replace(monitors, groups=groups)), codes[rows]


def count_clusters(state: State, rows: OpenRows, journal: Journal, /) -> tuple[State, Outcomes]:
    """The state after clusters, and what the monitors count of them."""
    numbered, first, cluster = np.unique(rows.cluster, return_index=True, return_inverse=True)
    names = [rows.names[k] or str(rows.number[k]) for k in first.tolist()]
    rank = ranks(rows.number, cluster, names)
    cluster, names, n = rank[cluster], in_order(names, rank), len(numbered)
    done = np.zeros(n, dtype=np.int64)
    np.maximum.at(done, cluster, rows.number)
    done = np.maximum.accumulate(done) if n else done
    size = np.bincount(cluster, rows.left[:, IS_ROW], minlength=n).astype(np.int64)
    pairs, turn = np.unique(np.stack([cluster, rows.group], axis=1), axis=0, return_inverse=True)
    parts = _Parts(turn.ravel(), pairs[:, 0], pairs[:, 1])
    errors, verdict = rows.labelled(), rows.left[:, VERDICT]
    is_decision = rows.left[:, IS_DECISION] == 1
    decided = is_decision & (verdict >= 0)
    confidence, has_confidence = _usable(rows.confidence), rows.left[:, HAS_CONFIDENCE] == 1
    outcomes: dict[str, Counted] = {}
    of_groups: dict[str, Counted] = {}
    none = np.full(n, -1)
    for part, each, counts_here in (
        ("acceptance", verdict.astype(np.float64), decided),
        ("scores", confidence, has_confidence),
    ):
        if (monitor := state.monitors.parts.get(part)) is not None:
            values = replace(grouped(cluster, each, counts_here, names), rows=size)
            outcomes[part] = Counted.of(done, monitor.outcomes(values), none)
            if part == "scores" and state.monitors.groups is not None:
                by_name = [names[k] for k in parts.cluster.tolist()]
                values = replace(grouped(parts.turn, each, counts_here, by_name), rows=size[parts.cluster])
                of_groups[part] = Counted.of(done[parts.cluster], monitor.outcomes(values), parts.group)
    decisions = Counted(rows.number[decided], verdict[decided].astype(np.float64), rows.group[decided])
    waits = is_decision & (errors < 0) & (verdict != 0) & (rows.left[:, ROW_KEY] != 0)
    waits &= rows.left[:, WAS_LABELLED] == 0
    turns, ends, pending = _turns(parts, errors, waits, done, size)
    counts = state.counts.copy()
    counts[[POPPED, JOURNALED]] = 0
    keys = np.unique(np.concatenate([rows.left[:, ROW_KEY], rows.cluster[rows.cluster != -rows.number]]))
    memory = state.memory.with_room(len(pending) + len(keys), len(turns), counts)
    popped = np.empty((len(turns) + int(counts[LAST] - counts[FIRST]), 6), dtype=np.int64)
    changes = journal(memory, 2 * (len(pending) + len(keys)))
    close_clusters(
        turns,
        keys,
        ends,
        np.ascontiguousarray(rows.left[pending, ROW_KEY]),
        MonitorTables(memory.newer, memory.older, memory.queue, changes, counts),
        "risk" in state.monitors.parts,
        popped,
    )
    state = replace(state, memory=memory, counts=counts)
    return _with_risk(state, popped, Outcomes(outcomes, of_groups, decisions, decisions))


class _Parts(NamedTuple):
    """The rows of each group in each cluster."""

    turn: Ints
    """(rows,) the number of each row's part."""
    cluster: Ints
    group: Ints


def _turns(
    parts: _Parts, errors: Ints, waits: NDArray[np.bool_], done: Ints, size: Ints
) -> tuple[Ints, Ints, NDArray[np.intp]]:
    """Turns of clusters that have labels or wait for some, the ends of those that wait, and the rows that do."""
    n = len(parts.cluster)
    right, wrong = (np.bincount(parts.turn[errors == value], minlength=n) for value in (0, 1))
    at = np.flatnonzero(waits)
    at = at[np.argsort(parts.turn[at], kind="stable")]
    pending = np.bincount(parts.turn[at], minlength=n)
    active = np.flatnonzero(right + wrong + pending)
    cluster = parts.cluster[active]
    continues = np.append(cluster[1:] == cluster[:-1], False)[: len(active)]
    turns = np.stack(
        [
            done[cluster], size[cluster], right[active], wrong[active], pending[active], parts.group[active], continues
        ],
        axis=1,
    )  # fmt: skip
    return turns.astype(np.int64), np.cumsum(pending[active]), at


def _with_risk(state: State, popped: Ints, outcomes: Outcomes) -> tuple[State, Outcomes]:
    """Add what the risk monitors count of labels that need not wait; clusters that are too large are counted."""
    number, rows, right, wrong, group, head = popped[: state.counts[POPPED]].T
    labels = _labels(right, wrong)
    counted = Counted(np.repeat(number, right + wrong), labels, np.repeat(group, right + wrong))
    risk = state.monitors.risk
    if risk is None:
        return state, replace(outcomes, labels=counted)
    starts = np.flatnonzero(np.diff(head, prepend=-1))
    sums = [np.add.reduceat(each, starts) if len(starts) else each for each in (right, wrong)]
    of_all = risk.outcomes(ClusterValues([], rows[starts], _labels(*sums), np.cumsum(sums[0] + sums[1])))
    all_rows = Counted.of(number[starts], of_all, np.full(len(starts), -1))
    by_group = outcomes.groups
    if state.monitors.groups is not None:
        of_each = risk.outcomes(ClusterValues([], rows, labels, np.cumsum(right + wrong)))
        by_group = by_group | {"risk": Counted.of(number, of_each, group)}
    state = replace(state, too_large=state.too_large + int(np.count_nonzero(np.isnan(of_all))))
    return state, replace(outcomes, all=outcomes.all | {"risk": all_rows}, groups=by_group, labels=counted)


def _labels(right: Ints, wrong: Ints) -> NDArray[np.float64]:
    """Errors and correct answers as 1 and 0, turn after turn."""
    return np.repeat(np.tile([1.0, 0.0], len(right)), np.stack([wrong, right], axis=1).ravel())


def _usable(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Confidences, −inf where a sample is not finite."""
    return np.where(np.isnan(confidence), -np.inf, confidence)

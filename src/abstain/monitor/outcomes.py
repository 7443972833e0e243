"""What the monitors of a watch count: of rows as they come, and of clusters once they are closed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Ints
from abstain._errors import InvalidInputError
from abstain._kernels.decision_tables import BAD, FIRST, JOURNALED, LAST, OPEN, POPPED, MonitorTables
from abstain._kernels.decisions import DecisionRows, close_clusters, take_rows
from abstain.metrics.checks import rejected_last
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
    ordered,
)  # fmt: skip
from abstain.monitor.deployment import DeploymentMonitor
from abstain.monitor.history import Alarm
from abstain.monitor.memory import Memory
from abstain.monitor.monitor import ClusterValues
from abstain.monitor.recent import EMPTY, Recent
from abstain.monitor.rows import StreamRows

Journal = Callable[[Memory, int], Ints]
"""Room to note so many changes to a memory, so that they can be undone."""


@final
@dataclass(frozen=True, eq=False)
class Counted:
    """What a monitor counts: row numbers, values and groups."""

    numbers: Ints
    values: NDArray[np.float64]
    groups: Ints
    """Numbers of groups, −1 for none."""

    @classmethod
    def of(cls, numbers: Ints, outcomes: NDArray[np.float64], groups: Ints | None = None, /) -> Self:
        """Without NaN, which does not count."""
        there = ~np.isnan(outcomes)
        groups = np.full(len(numbers), -1) if groups is None else groups
        return cls(numbers[there], outcomes[there], groups[there])

    def by_group(self) -> Iterator[tuple[int, "Counted"]]:
        """Those of each group, in the order they came."""
        at = np.flatnonzero(self.groups >= 0)
        at = at[np.argsort(self.groups[at], kind="stable")]
        codes, starts = np.unique(self.groups[at], return_index=True)
        for code, rows in zip(codes.tolist(), np.split(at, starts[1:]), strict=True) if len(at) else ():
            yield code, Counted(self.numbers[rows], self.values[rows], self.groups[rows])


@final
@dataclass(frozen=True, eq=False)
class Outcomes:
    """What is new, by monitor: for all rows, for groups (also where none is monitored), for recent rows."""

    all: dict[str, Counted]
    groups: dict[str, Counted]
    recent: dict[Literal["accepted", "errors"], Counted]


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
    """Labels read by this object whose id has no known decision."""


def count_rows(
    state: State, rows: StreamRows, groups: tuple[Sequence[str | None], Ints], journal: Journal, /
) -> tuple[State, OpenRows, Outcomes]:
    """The state after rows, those that wait for their clusters, and what counts now.

    ``groups`` are names, and for each row the number of its name.
    """
    n, counts, start = len(rows), state.counts.copy(), state.rows + 1
    counts[[POPPED, JOURNALED, BAD]] = 0, 0, -1
    monitors, codes = _with_groups(state.monitors, *groups)
    memory = state.memory.with_room(3 * n, n, counts)
    popped = np.empty((n + int(counts[LAST] - counts[FIRST]), 6), dtype=np.int64)
    left, keys, clustered = np.empty((n, 9), dtype=np.int64), rows.keys(), monitors.clustered
    tables = MonitorTables(memory.newer, memory.older, memory.queue, journal(memory, 7 * n), counts)
    given = DecisionRows(keys, rows.decisions(), rows.accepted, rows.error, rows.has_confidence, codes)
    take_rows(given, tables, start, clustered, monitors.risk is not None, left, popped)
    if counts[BAD] >= 0:
        raise InvalidInputError(
            "`id` must name a single decision if its label comes without the confidence, got several of "
            f"{rows.ids[counts[BAD]]!r}. Repeat the confidence with the label."
        )
    at = np.flatnonzero((left[:, IS_DECISION] == 1) & (left[:, VERDICT] >= 0) & (left[:, HOW] != WAITS))
    decisions = Counted(start + at, left[at, VERDICT].astype(np.float64), codes[at])
    counted: dict[str, Counted] = {}
    if not clustered:
        at = np.flatnonzero(left[:, HAS_CONFIDENCE])
        scores = Counted(start + at, rejected_last(rows.confidence[at]), codes[at])
        counted = {"acceptance": decisions, "scores": scores}
    alone = (left[:, IS_DECISION] == 0) & (left[:, ERROR] >= 0) & (left[:, IS_ROW] == 1) & (left[:, ROW_KEY] != 0)
    unmatched = state.unmatched + int(np.count_nonzero(alone & (left[:, HOW] != 0)))
    state = replace(state, monitors=monitors, memory=memory, counts=counts, rows=state.rows + n, unmatched=unmatched)
    state, outcomes = _with_labels(state, popped, Outcomes(counted, counted, {"accepted": decisions}))
    opened = OpenRows.none()
    if clustered:
        before = int(counts[OPEN] - np.count_nonzero(left[:, 0] == WAITS))
        opened = OpenRows.of(rows, keys, left, codes, start=start, before=before)
    return state, opened, outcomes


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
    clusters, left, monitors = _Clusters.of(rows), rows.left, state.monitors
    errors, verdict, is_decision = rows.labelled(), left[:, VERDICT], left[:, IS_DECISION] == 1
    decided = is_decision & (verdict >= 0)
    accepted = verdict.astype(np.float64)
    values = {"acceptance": (accepted, decided)}
    values |= {"scores": (rejected_last(rows.confidence), left[:, HAS_CONFIDENCE] == 1)}
    of_all = {
        name: Counted.of(clusters.done, monitors.parts[name].outcomes(clusters.values(*each)))
        for name, each in values.items()
        if name in monitors.parts
    }
    of_groups = {}
    if monitors.scores is not None and monitors.groups is not None:
        outcomes = monitors.scores.outcomes(clusters.values_by_group(*values["scores"]))
        of_groups["scores"] = Counted.of(clusters.done[clusters.of_part], outcomes, clusters.group)
    decisions = Counted(rows.number[decided], accepted[decided], rows.group[decided])
    waits = is_decision & (errors < 0) & (verdict != 0) & (left[:, ROW_KEY] != 0) & (left[:, WAS_LABELLED] == 0)
    turns, ends, pending = _turns(clusters, errors, waits)
    counts = state.counts.copy()
    counts[[POPPED, JOURNALED]] = 0
    keys = np.unique(np.concatenate([left[:, ROW_KEY], rows.cluster[rows.cluster != -rows.number]]))
    memory = state.memory.with_room(len(pending) + len(keys), len(turns), counts)
    popped = np.empty((len(turns) + int(counts[LAST] - counts[FIRST]), 6), dtype=np.int64)
    changes = journal(memory, 2 * (len(pending) + len(keys)))
    tables = MonitorTables(memory.newer, memory.older, memory.queue, changes, counts)
    pending_keys = np.ascontiguousarray(left[pending, ROW_KEY])
    close_clusters(turns, keys, ends, pending_keys, tables, monitors.risk is not None, popped)
    state = replace(state, memory=memory, counts=counts)
    return _with_labels(state, popped, Outcomes(of_all, of_groups, {"accepted": decisions}))


class _Clusters(NamedTuple):
    """Clusters in their order, and the parts of them that are in one group each."""

    names: Sequence[str]
    size: Ints
    """(n,) rows of each."""
    done: Ints
    """(n,) the highest row number in each cluster or any before it."""
    cluster: Ints
    """(rows,) the cluster of each row."""
    part: Ints
    """(rows,) the part of each row."""
    of_part: Ints
    """(parts,) the cluster of each part."""
    group: Ints
    """(parts,) the group of each part."""

    @classmethod
    def of(cls, rows: OpenRows) -> Self:
        numbered, first, cluster = np.unique(rows.cluster, return_index=True, return_inverse=True)
        named = [rows.names[k] or str(rows.number[k]) for k in first.tolist()]
        cluster, names = ordered(rows.number, cluster, named)
        done = np.zeros(len(numbered), dtype=np.int64)
        np.maximum.at(done, cluster, rows.number)
        size = np.bincount(cluster, rows.left[:, IS_ROW], minlength=len(numbered)).astype(np.int64)
        parts, part = np.unique(np.stack([cluster, rows.group], axis=1), axis=0, return_inverse=True)
        return cls(names, size, np.maximum.accumulate(done), cluster, part.ravel(), parts[:, 0], parts[:, 1])

    def values(self, values: NDArray[np.float64], counts: NDArray[np.bool_]) -> ClusterValues:
        """The values of the rows that count, cluster by cluster."""
        return replace(grouped(self.cluster, values, counts, self.names), rows=self.size)

    def values_by_group(self, values: NDArray[np.float64], counts: NDArray[np.bool_]) -> ClusterValues:
        """The same, part by part."""
        names = [self.names[k] for k in self.of_part.tolist()]
        return replace(grouped(self.part, values, counts, names), rows=self.size[self.of_part])


def _turns(clusters: _Clusters, errors: Ints, waits: NDArray[np.bool_]) -> tuple[Ints, Ints, NDArray[np.intp]]:
    """Turns of clusters with labels or pending rows; where the pending rows of each turn end; and those rows."""
    n = len(clusters.of_part)
    right, wrong = (np.bincount(clusters.part[errors == value], minlength=n) for value in (0, 1))
    at = np.flatnonzero(waits)
    at = at[np.argsort(clusters.part[at], kind="stable")]
    pending = np.bincount(clusters.part[at], minlength=n)
    active = np.flatnonzero(right + wrong + pending)
    cluster = clusters.of_part[active]
    continues = np.append(cluster[1:] == cluster[:-1], False)[: len(active)]
    labels = (right[active], wrong[active], pending[active])
    turns = np.stack(
        [clusters.done[cluster], clusters.size[cluster], *labels, clusters.group[active], continues], axis=1
    )
    return turns.astype(np.int64), np.cumsum(pending[active]), at


def _with_labels(state: State, popped: Ints, outcomes: Outcomes) -> tuple[State, Outcomes]:
    """Add labels that need not wait, and what the risk monitors count of them; count clusters that are too large."""
    number, rows, right, wrong, group, head = popped[: state.counts[POPPED]].T
    labels = _labels(right, wrong)
    labelled = Counted(np.repeat(number, right + wrong), labels, np.repeat(group, right + wrong))
    outcomes = replace(outcomes, recent=outcomes.recent | {"errors": labelled})
    risk = state.monitors.risk
    if risk is None:
        return state, outcomes
    starts = np.flatnonzero(np.diff(head, prepend=-1))
    sums = [np.add.reduceat(each, starts) if len(starts) else each for each in (right, wrong)]
    of_all = risk.outcomes(ClusterValues([], rows[starts], _labels(*sums), np.cumsum(sums[0] + sums[1])))
    by_group = outcomes.groups
    if state.monitors.groups is not None:
        of_each = risk.outcomes(ClusterValues([], rows, labels, np.cumsum(right + wrong)))
        by_group = by_group | {"risk": Counted.of(number, of_each, group)}
    state = replace(state, too_large=state.too_large + int(np.count_nonzero(np.isnan(of_all))))
    return state, replace(outcomes, all=outcomes.all | {"risk": Counted.of(number[starts], of_all)}, groups=by_group)


def _labels(right: Ints, wrong: Ints) -> NDArray[np.float64]:
    """Errors and correct answers as 1 and 0, turn after turn."""
    return np.repeat(np.tile([1.0, 0.0], len(right)), np.stack([wrong, right], axis=1).ravel())

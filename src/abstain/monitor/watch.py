"""A deployed selector watched row by row: its monitors, the rows they have had, and the alarms there were."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.decisions import (
    BAD,
    COUNTS,
    DECISIONS,
    FIRST,
    JOURNALED,
    LABELS,
    LAST,
    LATE_LABELS,
    LATE_ROWS,
    NOW,
    OPEN,
    POPPED,
    QUEUED,
    SKIPPED,
    TOO_MANY,
    WINDOW,
    close_clusters,
    take_rows,
    undo,
)  # fmt: skip
from abstain.monitor.clusters import grouped, in_order, ranks
from abstain.monitor.deployment import DeploymentMonitor
from abstain.monitor.memory import Memory
from abstain.monitor.monitor import first_alarm
from abstain.monitor.open_clusters import (
    ERROR,
    HAS_CONFIDENCE,
    IS_DECISION,
    IS_ROW,
    ROW_KEY,
    VERDICT,
    WAS_LABELLED,
    OpenRows,
    joined,
)  # fmt: skip
from abstain.monitor.row import Clusters, Row
from abstain.monitor.rows import Rows
from abstain.monitor.rule import Rule
from abstain.monitor.turns import WINDOW_ROWS, Turns
from abstain.records import built, to_json

VERSION = 5
CHUNK = 65_536  # rows that compiled code takes at once
Ints = NDArray[np.int64]
Outcomes = dict[str, tuple[Ints, NDArray[np.float64]]]
"""What each monitor counts, with the numbers of the rows at which it does."""
Undo = tuple[Memory, Ints]
"""Arrays, and what was changed in them."""


@final
@dataclass(frozen=True)
class Alarm:
    """An alarm that one of the monitors raised, and how it ended."""

    name: str
    row: int
    """The row after which the evidence had reached 1/δ, of all rows since the beginning; 0 if that was not kept."""
    acknowledged: str | None = None
    """The time at which somebody acknowledged it; None while it stands."""
    acknowledged_row: int | None = None
    """The last row before that; told, as all of this, in the state and by `abstain monitor --json`."""


@final
@dataclass(frozen=True)
class History:
    """What has been watched so far."""

    rows: int = 0
    """Rows read, those counted before among them."""
    accepted: int = 0
    """Decisions to accept."""
    labels: int = 0
    """Labels of samples not known to be rejected."""
    alarms: tuple[Alarm, ...] = ()
    ids: tuple[str, ...] = ("", "")
    """`Memory`, as text."""
    forgotten: int = 0
    """Ids that it had to forget."""
    turns: tuple[tuple[int, ...], ...] = ()
    """The queue of turns, as numbers."""
    label_window: int = WINDOW_ROWS
    late_labels: int = 0
    late_rows: int = 0
    """Rows of clusters that had been counted."""
    too_large: int = 0
    """Clusters about which nothing is guaranteed."""

    def __post_init__(self) -> None:
        counts = (
            self.rows,
            self.accepted,
            self.labels,
            self.forgotten,
            self.late_rows,
            self.too_large,
            self.late_labels,
            self.label_window,
        )
        if min(counts) < 0 or max(counts) >= 1 << 63 or len(self.ids) != 2:
            raise ValueError("`text` must be the state of a monitor, got a history that no stream leads to.")


@final
@dataclass(frozen=True, eq=False)
class State:
    """All that a watch knows, changed as a whole; the arrays of its memory change in place, and can be restored."""

    monitors: DeploymentMonitor
    alarms: tuple[Alarm, ...]
    memory: Memory
    counts: Ints
    """Numbers of `abstain.kernels.decisions`."""
    rows: int = 0
    too_large: int = 0
    open: tuple[OpenRows, ...] = ()
    """Rows of clusters that may grow, batch after batch."""


@final
class Watch:
    """Monitors that take rows, and know which rows they have had; it changes as rows come.

    Rows are numbered from 1, over all that it is ever given. However rows are cut into batches, the numbers at which
    alarms are raised are the same. Each call is one step: where it is interrupted or fails, nothing of it has happened,
    so that its rows can be given again.

    Rows given again are known by their ids and skipped. Within one input, which `close` ends, rows that are the same in
    id, confidence, verdict and domain are decisions of their own, the first, the second, …, and a later input that
    repeats them or brings their labels has them in the same order.

    A label with an id counts when its turn has come: when the labels of all decisions before its own that accepted have
    come, or ``label_window`` rows have been accepted since. So it does not matter whether errors are reported sooner
    than right answers; but whether a label comes in time must not depend on it.

    Monitors of a selector that was calibrated with ids count clusters, rows with the same id. A cluster counts when
    `close` is called, which must be after its last row. Clusters that come one after the other must do so in an order
    that does not depend on what is in them or on their size; of those whose rows are mixed, no order is used.
    """

    def __init__(
        self,
        monitors: DeploymentMonitor,
        history: History | None = None,
        /,
        *,
        rule: Rule | None = None,
        label_window: int = WINDOW_ROWS,
    ) -> None:
        if label_window < 0:
            raise ValueError(f"`label_window` must be at least 0, got {label_window}.")
        history = history or History(label_window=label_window)
        self.rule = rule
        """What decides rows that come without a verdict, where that is known."""
        counts = np.zeros(COUNTS, dtype=np.int64)
        counts[[WINDOW, LATE_LABELS, LATE_ROWS]] = history.label_window, history.late_labels, history.late_rows
        counts[[DECISIONS, LABELS]] = history.accepted, history.labels
        newer, older = history.ids
        memory = Memory.from_texts(newer, older, history.turns, counts, forgotten=history.forgotten)
        known = {alarm.name for alarm in history.alarms if alarm.acknowledged is None}
        if not known <= set(monitors.alarms):
            raise ValueError("`text` must be the state of a monitor, got alarms that none of its monitors raised.")
        alarms = (*history.alarms, *(Alarm(name, 0) for name in monitors.alarms if name not in known))
        self._state = State(monitors, alarms, memory, counts, history.rows, history.too_large)
        self._undo: tuple[State | None, list[Undo]] = (None, [])

    @property
    def monitors(self) -> DeploymentMonitor:
        """The monitors with their evidence."""
        return self._state.monitors

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """All alarms there were."""
        return self._state.alarms

    @property
    def standing(self) -> tuple[Alarm, ...]:
        """The alarms that nobody has acknowledged."""
        return tuple(alarm for alarm in self.alarms if alarm.acknowledged is None)

    @property
    def rows(self) -> int:
        """Rows read."""
        return self._state.rows

    @property
    def skipped(self) -> int:
        """Rows that were counted before, of those read by this object."""
        return int(self._state.counts[SKIPPED])

    @property
    def late_rows(self) -> int:
        """Rows that were left out because the cluster of their id had been counted."""
        return int(self._state.counts[LATE_ROWS])

    @property
    def too_large(self) -> int:
        """Clusters of more rows than the guaranteed risk is about, which do not count towards it."""
        return self._state.too_large

    @property
    def forgotten(self) -> int:
        """Ids that are no longer remembered: their rows would be counted again."""
        return self._state.memory.forgotten

    @property
    def turns(self) -> Turns:
        """Labels that wait, and those that came too late."""
        self._recover()
        counts, pending = self._state.counts, int(self._state.memory.turns(self._state.counts)[:, 3].sum())
        return Turns(int(counts[WINDOW]), int(counts[LATE_LABELS]), int(counts[QUEUED]) - pending, pending)

    def observe(self, rows: Rows | Sequence[Row], /) -> list[Alarm]:
        """Take further rows, and return the alarms they raise; rows counted before, by their ids, are skipped."""
        given = rows if isinstance(rows, Rows) else Rows.of(rows)
        state = self._begin()
        found: list[tuple[OpenRows, Outcomes]] = []
        for start in range(0, len(given), CHUNK):
            state, opened, outcomes = self._taken(state, given[start : start + CHUNK])
            found.append((opened, outcomes))
        if state.counts[TOO_MANY] and {"risk", "acceptance"} <= set(state.monitors.parts):
            raise ValueError(
                "`stream` must have the column accepted where it has labels of rejected samples too, got "
                f"{state.counts[LABELS]} labels for {state.counts[DECISIONS]} accepted samples."
            )
        state = replace(state, open=(*state.open, *(waiting for waiting, _ in found if len(waiting))))
        return self._commit(state, [each for _, each in found])

    def close(self, *, last: bool = True) -> list[Alarm]:
        """End an input: count the clusters whose rows have come, and return the alarms they raise.

        The cluster of the ``last`` row may wait for more. Rows of a cluster that come after that are left out. Where
        rows are independent, a row after this that is the same as one before is that row again.
        """
        state = self._begin()
        if not state.monitors.clustered:
            counts = state.counts.copy()
            counts[NOW] += 1
            return self._commit(replace(state, counts=counts), [])
        rows = joined(state.open)
        done = np.full(len(rows), True) if last else rows.cluster != rows.cluster[-1:]
        left, rows = rows.taken(np.flatnonzero(~done)), rows.taken(np.flatnonzero(done))
        state, outcomes = self._closed(state, rows)
        counts = state.counts.copy()
        counts[NOW] += last
        return self._commit(replace(state, counts=counts, open=(left,) if len(left) else ()), [outcomes])

    def acknowledge(self, time: str, /) -> tuple[Alarm, ...]:
        """Note that the alarms that stand have been heard; their monitors begin to gather evidence again from scratch.

        Whoever acknowledges an alarm of the risk may have seen labels whose turn has not come, so these are given up.
        """
        state, heard = self._begin(), self.standing
        counts = state.counts.copy()
        if "risk" in {alarm.name for alarm in heard}:
            counts[FIRST], counts[QUEUED] = counts[LAST], 0
        ended = {alarm: replace(alarm, acknowledged=time, acknowledged_row=self.rows) for alarm in heard}
        self._state = replace(
            state,
            counts=counts,
            monitors=state.monitors.restarted(tuple(alarm.name for alarm in heard)),
            alarms=tuple(ended.get(alarm, alarm) for alarm in self.alarms),
        )
        return heard

    def to_json(self) -> str:
        """The state as text; a cluster that is not closed is in none, and its rows count when they come again."""
        self._recover()
        state, counts = self._state, self._state.counts
        waiting = joined(state.open).left
        history = History(
            state.rows,
            int(counts[DECISIONS] - np.count_nonzero((waiting[:, VERDICT] == 1) & (waiting[:, IS_DECISION] == 1))),
            int(counts[LABELS] - np.count_nonzero((waiting[:, VERDICT] != 0) & (waiting[:, ERROR] >= 0))),
            state.alarms,
            state.memory.to_texts(),
            state.memory.forgotten,
            state.memory.kept(counts),
            int(counts[WINDOW]),
            int(counts[LATE_LABELS]),
            int(counts[LATE_ROWS]),
            state.too_large,
        )
        rule = {} if self.rule is None else {"rule": json.loads(to_json(self.rule))}
        parts = json.loads(self.monitors.to_json())
        return json.dumps({"version": VERSION} | parts | {"history": json.loads(to_json(history))} | rule)

    @classmethod
    def from_json(cls, text: str, /) -> Self:
        """The watch that `to_json` wrote, or a new one of a `DeploymentMonitor` that its own wrote."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        keys = ("version", "history", "rule")
        version, history, rule = (found.pop(name, None) if isinstance(found, dict) else None for name in keys)
        if version != (None if history is None else VERSION):
            raise ValueError(
                f"`text` must be the state of a Watch of version {VERSION}, got one that another version of abstain "
                "wrote. Name a new file; rows from now on count there."
            )
        monitors = DeploymentMonitor.from_json(text if history is None else json.dumps(found))
        if not monitors.parts:
            raise ValueError("`text` must be the state of a Watch of something, got one of nothing.")
        try:
            kept, rule = built(history, History | None), built(rule, Rule | None)
        except ValueError as error:
            raise ValueError(f"`text` must be the state of a Watch, got {error}.") from None
        return cls(monitors, kept, rule=rule)

    def _begin(self) -> State:
        """The state to go on from; arrays that change from now on are restored unless the step is committed."""
        self._recover()
        self._undo = (self._state, [])
        return self._state

    def _recover(self) -> None:
        """Restore what a step changed that did not come to its end."""
        state, changed = self._undo
        if state is self._state:
            for memory, journal in reversed(changed):
                undo(memory.newer, memory.older, memory.queue, journal)
        self._undo = (None, [])

    def _journal(self, memory: Memory, changes: int) -> Ints:
        journal = np.empty((max(changes, 1), 8), dtype=np.int64)
        journal[0, 7] = 0
        self._undo[1].append((memory, journal))
        return journal

    def _taken(self, state: State, rows: Rows) -> tuple[State, OpenRows, Outcomes]:
        """The state after rows, those that wait for their clusters, and what the monitors count of the others."""
        n, counts, start = len(rows), state.counts.copy(), state.rows + 1
        counts[[POPPED, JOURNALED, BAD]] = 0, 0, -1
        memory = state.memory.with_room(3 * n, n, counts)
        popped = np.empty((n + int(counts[LAST] - counts[FIRST]), 4), dtype=np.int64)
        left, keys, parts = np.empty((n, 9), dtype=np.int64), rows.keys(), state.monitors.parts
        clustered, journal = state.monitors.clustered, self._journal(memory, 7 * n)
        take_rows(
            keys, rows.decisions(), rows.accepted, rows.error, rows.has_confidence, memory.newer, memory.older,
            memory.queue, journal, counts, start, clustered, "risk" in parts, left, popped,
        )  # fmt: skip
        if counts[BAD] >= 0:
            raise ValueError(
                "`id` must name one decision where a label comes without its confidence, got several of "
                f"{rows.ids[counts[BAD]]!r}. Repeat the confidence beside the label."
            )
        outcomes: Outcomes = {}
        if not clustered and "acceptance" in parts:
            at = np.flatnonzero((left[:, IS_DECISION] == 1) & (left[:, VERDICT] >= 0))
            outcomes["acceptance"] = start + at, left[at, VERDICT].astype(np.float64)
        if not clustered and "scores" in parts:
            at = np.flatnonzero(left[:, HAS_CONFIDENCE])
            outcomes["scores"] = start + at, _usable(rows.confidence[at])
        state = replace(state, memory=memory, counts=counts, rows=state.rows + n)
        state = _with_risk(state, popped, outcomes)
        opened = OpenRows.none()
        if clustered:
            opened = OpenRows.of(
                rows, keys, left, start=start, before=int(counts[OPEN] - np.count_nonzero(left[:, 0] == 2))
            )
        return state, opened, outcomes

    def _closed(self, state: State, rows: OpenRows) -> tuple[State, Outcomes]:
        """The state after clusters, and what the monitors count of them."""
        numbered, place, cluster = np.unique(rows.cluster, return_index=True, return_inverse=True)
        names = [rows.names[k] or str(rows.number[k]) for k in place.tolist()]
        rank = ranks(rows.number, cluster, names)
        cluster, names, n = rank[cluster], in_order(names, rank), len(numbered)
        done = np.zeros(n, dtype=np.int64)
        np.maximum.at(done, cluster, rows.number)
        done = np.maximum.accumulate(done) if n else done
        size = np.bincount(cluster, rows.left[:, IS_ROW], minlength=n).astype(np.int64)
        errors, verdict = rows.labelled(), rows.left[:, VERDICT]
        is_decision = rows.left[:, IS_DECISION] == 1
        outcomes: Outcomes = {}
        values = {
            "acceptance": (verdict.astype(np.float64), is_decision & (verdict >= 0)),
            "scores": (_usable(rows.confidence), rows.left[:, HAS_CONFIDENCE] == 1),
        }
        for part, (each, counted) in values.items():
            if part in state.monitors.parts:
                found = state.monitors.parts[part].outcomes(replace(grouped(cluster, each, counted, names), rows=size))
                outcomes[part] = done[~np.isnan(found)], found[~np.isnan(found)]
        waits = is_decision & (errors < 0) & (verdict != 0) & (rows.left[:, ROW_KEY] != 0)
        waits &= rows.left[:, WAS_LABELLED] == 0
        at = np.flatnonzero(waits)
        at = at[np.argsort(cluster[at], kind="stable")]
        right, wrong = (np.bincount(cluster[errors == value], minlength=n) for value in (0, 1))
        counts = state.counts.copy()
        counts[[POPPED, JOURNALED]] = 0
        keys = np.unique(np.concatenate([rows.left[:, ROW_KEY], rows.cluster[rows.cluster != -rows.number]]))
        memory = state.memory.with_room(len(at) + len(keys), n, counts)
        popped = np.empty((n + int(counts[LAST] - counts[FIRST]), 4), dtype=np.int64)
        close_clusters(
            np.stack([done, size, right, wrong], axis=1), keys, np.cumsum(np.bincount(cluster[at], minlength=n)),
            np.ascontiguousarray(rows.left[at, ROW_KEY]), memory.newer, memory.older, memory.queue,
            self._journal(memory, 2 * (len(at) + len(keys))), counts, "risk" in state.monitors.parts, popped,
        )  # fmt: skip
        state = replace(state, memory=memory, counts=counts)
        return _with_risk(state, popped, outcomes), outcomes

    def _commit(self, state: State, outcomes: list[Outcomes]) -> list[Alarm]:
        """Let the monitors count, and return their new alarms in the order they came; the step ends as a whole."""
        parts, raised = dict(state.monitors.parts), []
        for each in outcomes:
            for name, (numbers, values) in each.items():
                before = parts[name]
                parts[name] = before.observe(values)
                if parts[name].alarm and not before.alarm:
                    raised.append(Alarm(name, int(numbers[first_alarm(before, values)])))
        names = list(parts)
        raised.sort(key=lambda alarm: (alarm.row, names.index(alarm.name)))
        monitors = replace(state.monitors, **parts)  # type: ignore[arg-type]
        self._state = replace(state, monitors=monitors, alarms=state.alarms + tuple(raised))
        return raised


def _with_risk(state: State, popped: Ints, outcomes: Outcomes) -> State:
    """Add what the risk monitor counts of turns that have come; clusters about which nothing is guaranteed are told."""
    risk = state.monitors.risk
    if risk is None:
        return state
    number, rows, right, wrong = popped[: state.counts[POPPED]].T
    values = np.repeat(np.tile([1.0, 0.0], len(number)), np.stack([wrong, right], axis=1).ravel())
    found = risk.outcomes(Clusters([], rows, values, np.cumsum(right + wrong)))
    outcomes["risk"] = number[~np.isnan(found)], found[~np.isnan(found)]
    return replace(state, too_large=state.too_large + int(np.count_nonzero(np.isnan(found))))


def _usable(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Confidences, −inf where a sample was not usable."""
    return np.where(np.isnan(confidence), -np.inf, confidence)

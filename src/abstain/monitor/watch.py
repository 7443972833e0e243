"""`Watch`: a deployed selector monitored row by row."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Self, final

import numpy as np

from abstain._errors import InvalidInputError
from abstain._io.records import built, to_json
from abstain._kernels.decision_tables import (
    COUNTS,
    DECISIONS,
    FIRST,
    LABELS,
    LAST,
    LATE_LABELS,
    LATE_ROWS,
    NOW,
    QUEUED,
    SKIPPED,
    TOO_MANY,
    WINDOW,
    undo,
)  # fmt: skip
from abstain.monitor.clusters import ERROR, IS_DECISION, VERDICT, OpenRows, joined
from abstain.monitor.deployment import DeploymentMonitor
from abstain.monitor.history import WINDOW_ROWS, Alarm, History, LabelQueue
from abstain.monitor.memory import Memory
from abstain.monitor.monitor import first_alarm
from abstain.monitor.outcomes import Ints, Outcomes, State, count_clusters, count_rows
from abstain.monitor.row import Row
from abstain.monitor.rows import StreamRows
from abstain.monitor.rule import Rule

VERSION = 5
CHUNK = 65_536  # rows that compiled code takes at once
Undo = tuple[Memory, Ints]
"""Arrays, and what was changed in them."""


@final
class Watch:
    """Monitors that take rows as they come, in any batches, and recognise rows given again.

    Unlike the monitors, it changes in place. Each call is atomic: if it is interrupted or fails, none of its rows
    count, and they can be given again. Rows are numbered from 1 over all calls; batches do not change the row numbers
    of alarms.

    Rows given again are recognised by their ids and skipped. Within one input, which `close` ends, rows with equal id,
    confidence, verdict and domain are separate decisions; a later input that repeats them, or has their labels, has
    them in the same order.

    A label with an id counts once the labels of all earlier accepted decisions have come, or ``label_window`` rows have
    been accepted since. So errors may be reported sooner than correct answers; but whether a label comes in time must
    not depend on the outcome.

    Monitors of a selector that was calibrated with ids count clusters of rows with the same id. A cluster counts when
    `close` is called, which must be after its last row. Clusters that come one after the other must be in an order that
    does not depend on their contents or size; if their rows are mixed, no order is used.

    Parameters
    ----------
    monitors : DeploymentMonitor
        What is monitored.
    history : History, optional
        That of an earlier watch.
    rule : Rule, optional
        What decides rows that come without a verdict.
    label_window : int
        Accepted decisions after which a missing label is no longer waited for.
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
            raise InvalidInputError(f"`label_window` must be at least 0, got {label_window}.")
        history = history or History(label_window=label_window)
        self.rule = rule
        """What decides rows that come without a verdict."""
        counts = np.zeros(COUNTS, dtype=np.int64)
        counts[[WINDOW, LATE_LABELS, LATE_ROWS]] = history.label_window, history.late_labels, history.late_rows
        counts[[DECISIONS, LABELS]] = history.accepted, history.labels
        newer, older = history.ids
        memory = Memory.from_texts(newer, older, history.turns, counts, forgotten=history.forgotten)
        known = {alarm.name for alarm in history.alarms if alarm.acknowledged is None}
        if not known <= set(monitors.alarms):
            raise InvalidInputError(
                "`text` must be the state of a monitor, got alarms that none of its monitors raised."
            )
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
    def turns(self) -> LabelQueue:
        """Labels that wait, and those that came too late."""
        self._recover()
        counts, pending = self._state.counts, int(self._state.memory.turns(self._state.counts)[:, 3].sum())
        return LabelQueue(int(counts[WINDOW]), int(counts[LATE_LABELS]), int(counts[QUEUED]) - pending, pending)

    def observe(self, rows: StreamRows | Sequence[Row], /) -> list[Alarm]:
        """Count more rows, and return the alarms they raise; rows whose ids were counted before are skipped."""
        given = rows if isinstance(rows, StreamRows) else StreamRows.of(rows)
        state = self._begin()
        steps: list[tuple[OpenRows, Outcomes]] = []
        for start in range(0, len(given), CHUNK):
            state, opened, outcomes = count_rows(state, given[start : start + CHUNK], self._journal)
            steps.append((opened, outcomes))
        if state.counts[TOO_MANY] and {"risk", "acceptance"} <= set(state.monitors.parts):
            raise InvalidInputError(
                "`stream` must have the column accepted if it has labels of rejected samples, got "
                f"{state.counts[LABELS]} labels for {state.counts[DECISIONS]} accepted samples."
            )
        state = replace(state, open=(*state.open, *(waiting for waiting, _ in steps if len(waiting))))
        return self._commit(state, [each for _, each in steps])

    def close(self, *, last: bool = True) -> list[Alarm]:
        """End an input: count the clusters whose rows have come, and return the alarms they raise.

        Unless ``last``, the cluster of the last row waits for more. Later rows of a closed cluster are left out. If
        rows are independent, a later row that equals an earlier one is that row again.
        """
        state = self._begin()
        if not state.monitors.clustered:
            counts = state.counts.copy()
            counts[NOW] += 1
            return self._commit(replace(state, counts=counts), [])
        rows = joined(state.open)
        done = np.full(len(rows), True) if last else rows.cluster != rows.cluster[-1:]
        left, rows = rows.taken(np.flatnonzero(~done)), rows.taken(np.flatnonzero(done))
        state, outcomes = count_clusters(state, rows, self._journal)
        counts = state.counts.copy()
        counts[NOW] += last
        return self._commit(replace(state, counts=counts, open=(left,) if len(left) else ()), [outcomes])

    def acknowledge(self, time: str, /) -> tuple[Alarm, ...]:
        """End the standing alarms; the evidence of their monitors starts again from zero.

        Whoever acknowledges an alarm of the risk may have seen labels that wait, so these are dropped.
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
            state = json.loads(text)
        except (ValueError, RecursionError):
            state = None
        keys = ("version", "history", "rule")
        version, history, rule = (state.pop(name, None) if isinstance(state, dict) else None for name in keys)
        if version != (None if history is None else VERSION):
            raise InvalidInputError(
                f"`text` must be the state of a monitor of version {VERSION}, got one that another version of abstain "
                "wrote. Name a new file to start again."
            )
        monitors = DeploymentMonitor.from_json(text if history is None else json.dumps(state))
        if not monitors.parts:
            raise InvalidInputError("`text` must be the state of a monitor, got one without monitors.")
        try:
            kept, rule = built(history, History | None), built(rule, Rule | None)
        except ValueError as error:
            raise InvalidInputError(f"`text` must be the state of a monitor, got {error}.") from None
        return cls(monitors, kept, rule=rule)

    def _begin(self) -> State:
        """The current state; arrays that change from now on are restored unless the step is committed."""
        self._recover()
        self._undo = (self._state, [])
        return self._state

    def _recover(self) -> None:
        """Restore what an unfinished step changed."""
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

    def _commit(self, state: State, outcomes: list[Outcomes]) -> list[Alarm]:
        """Let the monitors count, return their new alarms in the order they came, and end the step."""
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

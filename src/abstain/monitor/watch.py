"""`Watch`: a deployed selector monitored row by row."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self, final

import numpy as np

from abstain._arrays import Ints
from abstain._errors import InvalidInputError
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
from abstain.monitor.clusters import ERROR, IS_DECISION, VERDICT, OpenRows
from abstain.monitor.deployment import DeploymentMonitor
from abstain.monitor.history import WINDOW_ROWS, Alarm, History, LabelQueue
from abstain.monitor.memory import Memory
from abstain.monitor.monitor import first_alarm
from abstain.monitor.outcomes import Counted, Outcomes, State, count_clusters, count_rows
from abstain.monitor.recent import RECENT_ROWS, Recent
from abstain.monitor.row import Row
from abstain.monitor.rows import StreamRows, distinct
from abstain.monitor.rule import Rule
from abstain.monitor.saved_watch import SavedWatch
from abstain.monitor.table import table_lines

KINDS = ("risk", "acceptance", "scores")
CHUNK = 262_144  # rows that compiled code takes at once
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
    recent_window : int
        Labelled rows, and decisions, that are reported besides those of all time.
    """

    def __init__(
        self,
        monitors: DeploymentMonitor,
        history: History | None = None,
        /,
        *,
        rule: Rule | None = None,
        label_window: int = WINDOW_ROWS,
        recent_window: int = RECENT_ROWS,
    ) -> None:
        if label_window < 0:
            raise InvalidInputError(f"`label_window` must be at least 0, got {label_window}.")
        if history is None:
            history = History(label_window=label_window, recent=Recent(recent_window))
            groups = None if monitors.groups is None else monitors.groups.with_window(recent_window)
            monitors = replace(monitors, groups=groups)
        self.rule = rule
        """What decides rows that come without a verdict."""
        self.position = 0
        """The sequence number of the last record of a decision log that was counted, for whoever reads one."""
        counts = np.zeros(COUNTS, dtype=np.int64)
        counts[[WINDOW, LATE_LABELS, LATE_ROWS]] = history.label_window, history.late_labels, history.late_rows
        counts[[DECISIONS, LABELS]] = history.accepted, history.labels
        newer, older = history.ids
        of_groups = 0 if monitors.groups is None else len(monitors.groups.monitors)
        memory = Memory.from_texts(newer, older, history.turns, counts, forgotten=history.forgotten, groups=of_groups)
        known = {(alarm.name, alarm.group) for alarm in history.alarms if alarm.acknowledged is None}
        raised: dict[tuple[str, str | None], None] = dict.fromkeys((name, None) for name in monitors.alarms)
        raised |= dict.fromkeys(() if monitors.groups is None else monitors.groups.alarms)
        if not known <= set(raised):
            raise InvalidInputError(
                "`text` must be the state of a monitor, got alarms that none of its monitors raised."
            )
        alarms = (
            *history.alarms,
            *(Alarm(name, 0, group=group) for name, group in raised if (name, group) not in known),
        )
        self._state = State(monitors, alarms, memory, counts, history.rows, history.too_large, recent=history.recent)
        self._undo: tuple[State | None, list[Undo]] = (None, [])

    def __str__(self) -> str:
        return "\n".join([*table_lines(self.monitors, self.recent), "all time and recent: observed, not guaranteed"])

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
    def unmatched(self) -> int:
        """Labels with ids of which no decision is known here, of those read by this object; they count as accepted."""
        return self._state.unmatched

    @property
    def too_large(self) -> int:
        """Clusters of more rows than the guaranteed risk is about, which do not count towards it."""
        return self._state.too_large

    @property
    def forgotten(self) -> int:
        """Ids that are no longer remembered: their rows would be counted again."""
        return self._state.memory.forgotten

    @property
    def recent(self) -> Recent:
        """The last labelled rows and the last decisions: observed, not guaranteed."""
        return self._state.recent

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
            part = given[start : start + CHUNK]
            state, opened, outcomes = count_rows(state, part, self._groups(part), self._journal)
            steps.append((opened, outcomes))
        if state.counts[TOO_MANY] and {"risk", "acceptance"} <= set(state.monitors.parts):
            raise InvalidInputError(
                "`stream` must have the column accepted if it has labels of rejected samples, got "
                f"{state.counts[LABELS]} labels for {state.counts[DECISIONS]} accepted samples."
            )
        state = replace(state, open=(*state.open, *(waiting for waiting, _ in steps if len(waiting))))
        return self._commit(state, [each for _, each in steps])

    @property
    def group_column(self) -> str | None:
        """The column of a table that names the groups; None where it is ``group`` or ``domain``, or the prediction."""
        column = None if self.rule is None else self.rule.column
        per = None if self.monitors.groups is None else self.monitors.groups.per
        return column or (None if per == "class" else per)

    def _groups(self, rows: StreamRows) -> tuple[list[str | None], Ints]:
        """Names of groups, None of none, and the number of that of each row."""
        groups = self.monitors.groups
        if groups is None:
            return [None], np.zeros(len(rows), dtype=np.int64)
        if groups.per != "class":
            return distinct(rows.domains)
        named: dict[str | None, str | None] = {"-1": None}  # a non-finite row has no class
        if self.rule is not None:
            named |= {str(number): name for number, name in enumerate(self.rule.class_names)}
        names, numbers = distinct(rows.predictions)
        return [named.get(name, name) for name in names], numbers

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
        rows = OpenRows.joined(state.open)
        done = np.full(len(rows), True) if last else rows.cluster != rows.cluster[-1:]
        state, outcomes = count_clusters(state, rows[done], self._journal)
        left = rows[~done]
        counts = state.counts.copy()
        counts[NOW] += last
        return self._commit(replace(state, counts=counts, open=(left,) if len(left) else ()), [outcomes])

    def metrics(self) -> dict[str, float]:
        """All numbers by name, for dashboards: those of the monitors, and counts of rows, labels and alarms.

        ``rows``, ``accepted`` and ``labels`` are what has come; of the labels, ``labels_waiting`` have come and wait
        for earlier ones, ``labels_pending`` may still come, ``labels_late`` came too late. ``alarms`` is how many
        stand.

        Returns
        -------
        dict
            Name to number, the names of `DeploymentMonitor.metrics` among them.
        """
        turns, counts = self.turns, self._state.counts
        return (
            self.monitors.metrics()
            | self.recent.metrics()
            | {
                "alarms": float(len(self.standing)),
                "rows": float(self.rows),
                "accepted": float(counts[DECISIONS]),
                "labels": float(counts[LABELS]),
                "labels_waiting": float(turns.waiting),
                "labels_pending": float(turns.pending),
                "labels_late": float(turns.late),
            }
        )

    def acknowledge(self, time: str, /) -> tuple[Alarm, ...]:
        """End the standing alarms; the evidence of their monitors starts again from zero.

        Whoever acknowledges an alarm of the risk may have seen labels that wait, so these are dropped.
        """
        state, heard = self._begin(), self.standing
        counts = state.counts.copy()
        if "risk" in {alarm.name for alarm in heard}:  # of all rows, or of a group
            counts[FIRST], counts[QUEUED] = counts[LAST], 0
        ended = {alarm: replace(alarm, acknowledged=time, acknowledged_row=self.rows) for alarm in heard}
        self._state = replace(
            state,
            counts=counts,
            monitors=state.monitors.restarted(
                tuple(alarm.name for alarm in heard if alarm.group is None),
                tuple((alarm.name, alarm.group) for alarm in heard if alarm.group is not None),
            ),
            alarms=tuple(ended.get(alarm, alarm) for alarm in self.alarms),
        )
        return heard

    def to_json(self) -> str:
        """The state as text; a cluster that is not closed is in none, and its rows count when they come again."""
        self._recover()
        state, counts = self._state, self._state.counts
        waiting = OpenRows.joined(state.open).left
        history = History(
            state.rows,
            int(counts[DECISIONS] - np.count_nonzero((waiting[:, VERDICT] == 1) & (waiting[:, IS_DECISION] == 1))),
            int(counts[LABELS] - np.count_nonzero((waiting[:, VERDICT] != 0) & (waiting[:, ERROR] >= 0))),
            state.alarms,
            state.memory.to_texts(),
            state.memory.forgotten,
            state.memory.saved_turns(counts),
            int(counts[WINDOW]),
            int(counts[LATE_LABELS]),
            int(counts[LATE_ROWS]),
            state.too_large,
            state.recent,
        )
        return SavedWatch(self.monitors, history, self.rule, self.position).to_json()

    @classmethod
    def from_json(cls, text: str, /) -> Self:
        """The watch that `to_json` wrote, or a new one of a `DeploymentMonitor` that its own wrote."""
        saved = SavedWatch.from_json(text)
        watch = cls(saved.monitors, saved.history, rule=saved.rule)
        watch.position = saved.position or 0
        return watch

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
        journal = np.empty((max(changes, 1), 9), dtype=np.int64)
        journal[0, 8] = 0
        self._undo[1].append((memory, journal))
        return journal

    def _commit(self, state: State, outcomes: list[Outcomes]) -> list[Alarm]:
        """Let the monitors count, return their new alarms in the order they came, and end the step."""
        parts, recent, raised = dict(state.monitors.parts), state.recent, list[Alarm]()
        groups = {} if state.monitors.groups is None else dict(state.monitors.groups.monitors)
        named = list(groups)
        for each in outcomes:
            for name, counted in each.all.items():
                if name in parts:
                    parts[name] = _observed(parts[name], counted, Alarm(name, 0), raised)
            for name, of_groups in each.groups.items():
                for code, counted in of_groups.by_group():
                    group = groups[named[code]]
                    if name in group.parts:
                        alarm = Alarm(name, 0, group=named[code])
                        groups[named[code]] = group.replaced(name, _observed(group.parts[name], counted, alarm, raised))
            for what, counted in each.recent.items():
                recent = recent.extended(what, counted.values)
                for code, some in counted.by_group():
                    group = groups[named[code]]
                    groups[named[code]] = replace(group, recent=group.recent.extended(what, some.values))
        raised.sort(key=lambda alarm: (alarm.row, alarm.group is not None, KINDS.index(alarm.name)))
        monitors = replace(state.monitors, **parts)  # type: ignore[arg-type]
        if monitors.groups is not None:
            monitors = replace(monitors, groups=replace(monitors.groups, monitors=groups))
        self._state = replace(state, monitors=monitors, alarms=state.alarms + tuple(raised), recent=recent)
        return raised


def _observed(monitor: Any, counted: Counted, alarm: Alarm, raised: list[Alarm]) -> Any:
    """The monitor after more values; an alarm that it raises is added with its row."""
    after = monitor.observe(counted.values)
    if after.alarm and not monitor.alarm:
        row = int(counted.numbers[first_alarm(monitor, counted.values)])
        raised.append(replace(alarm, row=row))
    return after

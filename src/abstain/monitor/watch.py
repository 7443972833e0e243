"""A deployed selector watched row by row: its monitors, the rows they have had, and the alarms there were."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self, final

from abstain.monitor.deployment import DeploymentMonitor
from abstain.monitor.monitor import Monitor, first_alarm
from abstain.monitor.open_clusters import Numbered, OpenClusters
from abstain.monitor.row import Cluster, Row
from abstain.monitor.rule import Rule
from abstain.monitor.seen import Fresh, Seen
from abstain.monitor.turns import WINDOW, Turn, Turns
from abstain.records import built, to_json

VERSION = 3
Outcomes = list[tuple[int, float]]
"""What a monitor counts, each with the number of the row at which it does."""


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
    """`Seen`, as text."""
    forgotten: int = 0
    """Ids that it had to forget."""
    turns: tuple[tuple[int, ...], ...] = ()
    """`Turns`, as numbers."""
    label_window: int = WINDOW
    late_labels: int = 0
    late_rows: int = 0
    """Rows of clusters that had been counted."""
    too_large: int = 0
    """Clusters about which nothing is guaranteed."""

    def __post_init__(self) -> None:
        counts = (self.rows, self.accepted, self.labels, self.forgotten, self.late_rows, self.too_large)
        if min(counts) < 0 or len(self.ids) != 2:
            raise ValueError("`text` must be the state of a monitor, got a history that no stream leads to.")


@final
class Watch:
    """Monitors that take rows, and know which rows they have had; it changes as rows come.

    Rows are numbered from 1, over all that it is ever given. However rows are cut into batches, the numbers at which
    alarms are raised are the same.

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
        label_window: int = WINDOW,
    ) -> None:
        if label_window < 0:
            raise ValueError(f"`label_window` must be at least 0, got {label_window}.")
        history = history or History(label_window=label_window)
        self.rule = rule
        """What decides rows that come without a verdict, where that is known."""
        self.monitors, self.rows, self.skipped = monitors, history.rows, 0
        self.late_rows = history.late_rows
        """Rows that were left out because the cluster of their id had been counted."""
        self.too_large = history.too_large
        """Clusters of more rows than the guaranteed risk is about, which do not count towards it."""
        self._accepted, self._labels = history.accepted, history.labels
        self._seen = Seen.from_texts(*history.ids, forgotten=history.forgotten)
        self.turns = Turns(history.turns, window=history.label_window, late=history.late_labels)
        """Labels that wait, and those that came too late."""
        self._open = OpenClusters()
        known = {alarm.name for alarm in history.alarms if alarm.acknowledged is None}
        if not known <= set(monitors.alarms):
            raise ValueError("`text` must be the state of a monitor, got alarms that none of its monitors raised.")
        self.alarms = (*history.alarms, *(Alarm(name, 0) for name in monitors.alarms if name not in known))

    @property
    def standing(self) -> tuple[Alarm, ...]:
        """The alarms that nobody has acknowledged."""
        return tuple(alarm for alarm in self.alarms if alarm.acknowledged is None)

    @property
    def forgotten(self) -> int:
        """Ids that are no longer remembered: their rows would be counted again."""
        return self._seen.forgotten

    def observe(self, rows: Sequence[Row], /) -> list[Alarm]:
        """Take further rows, and return the alarms they raise; rows counted before, by their ids, are skipped."""
        fresh, notes = self._seen.fresh(rows)
        self._accepted, self._labels = self._counts(one.row for one in fresh if not one.again)
        numbered = list(enumerate(fresh, start=self.rows + 1))
        self.rows += len(rows)
        self._seen.add(notes)
        return self._raise(self._of_clusters(numbered) if self.monitors.clustered else self._of_rows(numbered))

    def close(self, *, last: bool = True) -> list[Alarm]:
        """Count the clusters whose rows have come, and return the alarms they raise; that of the ``last`` row may wait.

        Rows of a cluster that come after that are left out. Where rows are independent there is nothing to close.
        """
        found: dict[str, Outcomes] = {name: [] for name in self.monitors.parts}
        done = 0
        for name, rows in self._open.close(last=last):
            done = max(done, rows[-1][0])
            turn = Turn.of([one for _, one in rows])
            for part, monitor in self.monitors.parts.items():
                values = tuple(value for _, value in _taken(monitor, rows))
                outcome = monitor.outcome(Cluster(name, turn.rows, values)) if part != "risk" and values else None
                if outcome is not None:
                    found[part].append((done, outcome))
            if "risk" in found:
                self.turns.add(turn)
                found["risk"] += self._due(done)
        return self._raise(found)

    def acknowledge(self, time: str, /) -> tuple[Alarm, ...]:
        """Note that the alarms that stand have been heard; their monitors begin to gather evidence anew.

        Whoever acknowledges an alarm of the risk may have seen labels whose turn has not come, so these are given up.
        """
        heard = self.standing
        self.monitors = self.monitors.restarted(tuple(alarm.name for alarm in heard))
        if "risk" in {alarm.name for alarm in heard}:
            self.turns.clear()
        ended = {alarm: replace(alarm, acknowledged=time, acknowledged_row=self.rows) for alarm in heard}
        self.alarms = tuple(ended.get(alarm, alarm) for alarm in self.alarms)
        return heard

    def to_json(self) -> str:
        """The state as text; a cluster that is not closed is in none."""
        history = History(
            self.rows,
            self._accepted,
            self._labels,
            self.alarms,
            self._seen.to_texts(),
            self._seen.forgotten,
            self.turns.kept(),
            self.turns.window,
            self.turns.late,
            self.late_rows,
            self.too_large,
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

    def _of_rows(self, rows: Sequence[Numbered]) -> dict[str, Outcomes]:
        """What each monitor counts of independent rows."""
        parts, given = self.monitors.parts, len(rows)
        rows = [(number, one) for number, one in rows if not one.again]
        self.skipped += given - len(rows)
        found = {name: _taken(part, rows) for name, part in parts.items() if name != "risk"}
        if "risk" in parts:
            found["risk"] = []
            for number, one in rows:
                if one.row.error is not None and one.decided and one.row.accepted is not False:
                    self._label(one)
                else:
                    self.turns.add(Turn.of([one]))
                found["risk"] += self._due(number)
        return found

    def _of_clusters(self, rows: Sequence[Numbered]) -> dict[str, Outcomes]:
        """Gather rows in their clusters; labels of decisions that were counted may be due at once."""
        found: Outcomes = []
        for number, one in rows:
            is_open, is_label = self._open.holds(one.row), one.decided and not one.row.is_decision
            if one.again and (is_label or not is_open):
                self.skipped += 1
            elif is_label and not is_open:
                if "risk" in self.monitors.parts and one.row.accepted is not False:
                    self._label(one)
                    found += self._due(number)
            elif one.known and not is_open:
                self.late_rows += 1
            else:
                self._open.add(number, one)
        return {"risk": found} if found else {}

    def _label(self, one: Fresh) -> None:
        assert one.key is not None
        self.turns.label(one.key, bool(one.row.error))

    def _due(self, number: int) -> Outcomes:
        """What the risk monitor counts, now that its turn has come."""
        risk = self.monitors.risk
        assert risk is not None
        counted = [turn for turn in self.turns.due() if turn.right + turn.wrong]
        outcomes = [risk.outcome(Cluster("", turn.rows, turn.errors)) for turn in counted]
        self.too_large += outcomes.count(None)
        return [(number, outcome) for outcome in outcomes if outcome is not None]

    def _raise(self, outcomes: dict[str, Outcomes]) -> list[Alarm]:
        """Let the monitors count, and return their new alarms in the order they came."""
        parts, raised = {}, []
        for name, found in outcomes.items():
            part, values = self.monitors.parts[name], [value for _, value in found]
            parts[name] = part.observe(values)
            if parts[name].alarm and not part.alarm:
                raised.append(Alarm(name, found[first_alarm(part, values)][0]))
        self.monitors = replace(self.monitors, **parts)  # type: ignore[arg-type]
        names = list(self.monitors.parts)
        raised.sort(key=lambda alarm: (alarm.row, names.index(alarm.name)))
        self.alarms += tuple(raised)
        return raised

    def _counts(self, rows: Iterable[Row]) -> tuple[int, int]:
        """Decisions to accept and labels, with the rows; more labels than those is an error where nobody tells whose.

        It is looked for after every row, so that the size of a batch does not matter.
        """
        accepted, labels, too_many = self._accepted, self._labels, False
        for row in rows:
            accepted += row.is_decision and row.accepted is True
            labels += row.error is not None and row.accepted is not False
            too_many |= row.error is not None and row.accepted is None and 0 < accepted < labels
        if too_many and {"risk", "acceptance"} <= set(self.monitors.parts):
            raise ValueError(
                "`stream` must have the column accepted where it has labels of rejected samples too, got "
                f"{labels} labels for {accepted} accepted samples."
            )
        return accepted, labels


def _taken(monitor: Monitor, rows: Iterable[Numbered]) -> Outcomes:
    return [(number, value) for number, one in rows if (value := monitor.taken(one.row)) is not None]

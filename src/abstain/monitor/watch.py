"""A deployed selector watched row by row: its monitors, the rows they have had, and the alarms there were."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self, final

from abstain.monitor.deployment import DeploymentMonitor
from abstain.monitor.monitor import first_alarm
from abstain.monitor.row import Row
from abstain.monitor.rule import Rule
from abstain.monitor.seen import Seen
from abstain.records import built, to_json


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

    def __post_init__(self) -> None:
        if min(self.rows, self.accepted, self.labels, self.forgotten) < 0 or len(self.ids) != 2:
            raise ValueError("`text` must be the state of a monitor, got a history that no stream leads to.")


@final
class Watch:
    """Monitors that take rows, and know which rows they have had; it changes as rows come.

    Rows are numbered from 1, over all that it is ever given. However rows are cut into batches, the numbers at which
    alarms are raised are the same.
    """

    def __init__(
        self, monitors: DeploymentMonitor, history: History | None = None, /, *, rule: Rule | None = None
    ) -> None:
        history = history or History()
        self.rule = rule
        """What decides rows that come without a verdict, where that is known."""
        self.monitors, self.rows, self.skipped = monitors, history.rows, 0
        self._accepted, self._labels = history.accepted, history.labels
        self._seen = Seen.from_texts(*history.ids, forgotten=history.forgotten)
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
        accepted, labels = self._counts(fresh)
        monitors, raised = self._after(fresh)
        self.monitors, self._accepted, self._labels = monitors, accepted, labels
        self.rows += len(rows)
        self.skipped += fresh.count(None)
        self.alarms += tuple(raised)
        self._seen.add(notes)
        return raised

    def acknowledge(self, time: str, /) -> tuple[Alarm, ...]:
        """Note that the alarms that stand have been heard; their monitors begin to gather evidence anew."""
        heard = self.standing
        self.monitors = self.monitors.restarted(tuple(alarm.name for alarm in heard))
        ended = {alarm: replace(alarm, acknowledged=time, acknowledged_row=self.rows) for alarm in heard}
        self.alarms = tuple(ended.get(alarm, alarm) for alarm in self.alarms)
        return heard

    def to_json(self) -> str:
        """The state as text."""
        ids, forgotten = self._seen.to_texts(), self._seen.forgotten
        history = History(self.rows, self._accepted, self._labels, self.alarms, ids, forgotten)
        rule = {} if self.rule is None else {"rule": json.loads(to_json(self.rule))}
        return json.dumps(json.loads(self.monitors.to_json()) | {"history": json.loads(to_json(history))} | rule)

    @classmethod
    def from_json(cls, text: str, /) -> Self:
        """The watch that `to_json` wrote, or a new one of a `DeploymentMonitor` that its own wrote."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        history, rule = (found.pop(name, None) if isinstance(found, dict) else None for name in ("history", "rule"))
        monitors = DeploymentMonitor.from_json(text if history is None else json.dumps(found))
        if not monitors.parts:
            raise ValueError("`text` must be the state of a Watch of something, got one of nothing.")
        try:
            kept, rule = built(history, History | None), built(rule, Rule | None)
        except ValueError as error:
            raise ValueError(f"`text` must be the state of a Watch, got {error}.") from None
        return cls(monitors, kept, rule=rule)

    def _after(self, rows: Sequence[Row | None]) -> tuple[DeploymentMonitor, list[Alarm]]:
        """The monitors after the rows, and their new alarms in the order they came."""
        parts, raised = {}, []
        for name, part in self.monitors.parts.items():
            taken = [
                (place, value)
                for place, row in enumerate(rows, start=self.rows + 1)
                if row is not None and (value := part.taken(row)) is not None
            ]
            values = [value for _, value in taken]
            parts[name] = part.observe(values)
            if parts[name].alarm and not part.alarm:
                raised.append(Alarm(name, taken[first_alarm(part, values)][0]))
        return replace(self.monitors, **parts), sorted(raised, key=lambda alarm: alarm.row)  # type: ignore[arg-type]

    def _counts(self, rows: Iterable[Row | None]) -> tuple[int, int]:
        """Decisions to accept and labels, with the rows; more labels than those is an error where nobody tells whose.

        It is looked for after every row, so that the size of a batch does not matter.
        """
        accepted, labels, too_many = self._accepted, self._labels, False
        for row in rows:
            if row is None:
                continue
            accepted += row.is_decision and row.accepted is True
            labels += row.error is not None and row.accepted is not False
            too_many |= row.error is not None and row.accepted is None and 0 < accepted < labels
        if too_many and {"risk", "acceptance"} <= set(self.monitors.parts):
            raise ValueError(
                "`stream` must have the column accepted where it has labels of rejected samples too, got "
                f"{labels} labels for {accepted} accepted samples."
            )
        return accepted, labels

"""`Watcher`: the monitors of a service, in a thread of their own, with their state on disk."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TypeVar, final

from abstain._errors import AbstainError, InvalidInputError
from abstain._io.files import read_text, write_text
from abstain.decision_log.record import SEQUENCE, Columns, Record, is_label, rows_of
from abstain.monitor import DeploymentMonitor, Watch
from abstain.monitor.history import WINDOW_ROWS
from abstain.monitor.rule import Rule
from abstain.monitor.stream import StreamBatch
from abstain.selector import Selector
from abstain.telemetry import Measurements

T = TypeVar("T")
SAVE_SECONDS = 10.0
MOST_WAITING = 200_000  # rows; whoever adds more waits
PAUSE = 0.05  # seconds in which rows gather: many at once take far less time each


def started_watch(
    selector: Selector,
    state: Path | None,
    position: int,
    /,
    *,
    per: str | None = None,
    label_window: int = WINDOW_ROWS,
) -> Watch:
    """The watch in a state file; or else a new one, which begins after ``position`` of the log, and its file."""
    rule = Rule.of(selector)
    new = Watch(DeploymentMonitor.of(selector, per=rule.monitored_per(per)), rule=rule, label_window=label_window)
    new.position = position
    if state is None:
        return new
    if not state.exists():
        write_text(state, new.to_json())
        return new
    saved = Watch.from_json(read_text(state, "the state of a monitor"))
    if saved.monitors.begun() != new.monitors or saved.rule not in (None, new.rule):
        raise InvalidInputError(
            f"`--state` must belong to this selector and `--per`, got another monitor in {state}. Name a new file."
        )
    if saved.turns.window != label_window:
        raise InvalidInputError(
            f"`--label-window` must be that of the state, {saved.turns.window}, got {label_window}. Name a new file."
        )
    if saved.position > position:
        raise InvalidInputError(
            f"`--state` must not be ahead of the log, got a state after decision {saved.position} and a log of "
            f"{position}. Give the log that belongs to it, or name a new file."
        )
    return saved


@final
class Watcher:
    """Counts records of a log as they come, in their order, each once; measurements get what the monitors show.

    Parameters
    ----------
    watch : Watch
        The monitors; ``watch.position`` is the sequence number of the last record that was counted.
    measurements : Measurements
        Where the numbers of the monitors go.
    state : path, optional
        The file of the state, saved every few seconds and at the end: after a crash the rest is in the log.
    """

    def __init__(self, watch: Watch, measurements: Measurements, /, *, state: Path | None = None) -> None:
        self.watch, self._measurements, self._state = watch, measurements, state
        self._queue: SimpleQueue[Sequence[Record] | None] = SimpleQueue()
        self._waiting, self._lock = 0, Lock()
        self._saved, self._pause = time.monotonic(), SAVE_SECONDS
        self._thread = Thread(target=self._run, name="abstain-monitor", daemon=True)
        self._unsaved: Exception | None = None
        self.failure: Exception | None = None
        """Why nothing is counted any more; the log has what is left out, for the next start."""

    def start(self) -> None:
        """Begin to count."""
        self._measurements.monitored(self.watch.metrics())
        self._thread.start()

    def add(self, records: Sequence[Record], /) -> None:
        """Records that are in the log now, in order; waits where too many have not been counted yet."""
        if self.failure is not None:
            return
        with self._lock:
            self._waiting += len(records)
        self._queue.put(records)
        while self._waiting > MOST_WAITING and self._thread.is_alive():
            time.sleep(0.005)

    def stop(self) -> Exception | None:
        """Count what is left, save the state and end; the error if it could not be saved."""
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join()
        return self._unsaved

    def count(self, records: Iterable[Record], /) -> None:
        """Count records now; those that were counted before are left out."""
        new = [record for record in records if record[SEQUENCE] > self.watch.position]
        if not new:
            return
        start = 0
        for end in range(1, len(new) + 1):
            if end == len(new) or is_label(new[end]) != is_label(new[start]):
                self._observe(new[start:end])
                start = end
        self.watch.position = new[-1][SEQUENCE]

    def _observe(self, records: Sequence[Record]) -> None:
        try:
            self.watch.observe(StreamBatch.of_rows(records).read())
        except InvalidInputError:
            for record in records:
                with suppress(InvalidInputError):  # a label that the monitors cannot assign to a decision is left out
                    self.watch.observe(StreamBatch.of_rows([record]).read())
        self.watch.close()

    def _run(self) -> None:
        try:
            self._count_until_stopped()
        except Exception as error:  # a service that knows nothing of its risk is not ready
            self.failure = self._unsaved = error

    def _count_until_stopped(self) -> None:
        for batches in gathered(self._queue):
            records, alarms = [record for batch in batches for record in batch], len(self.watch.alarms)
            self.count(records)
            with self._lock:
                self._waiting -= len(records)
            self._measurements.monitored(self.watch.metrics())
            if len(self.watch.alarms) > alarms or time.monotonic() - self._saved > self._pause:
                self._save()
            time.sleep(PAUSE)
        self._save()

    def _save(self) -> None:
        if self._state is None:
            return
        began = time.monotonic()
        try:
            write_text(self._state, self.watch.to_json())
            self._unsaved = None
        except (OSError, AbstainError) as error:  # a full disk: the log has all, and the next time may do
            self._unsaved = error
        self._saved = time.monotonic()
        self._pause = max(SAVE_SECONDS, 50 * (self._saved - began))


def as_records(columns: Columns, first: int, /) -> list[Record]:
    """Rows as records of a log, numbered from ``first``."""
    return [{SEQUENCE: number} | row for number, row in enumerate(rows_of(columns), start=first)]


def gathered(queue: SimpleQueue[T | None], /) -> Iterator[list[T]]:
    """All that waits in a queue, again and again until None comes; the last time it may be nothing."""
    is_open = True
    while is_open:
        entries = [queue.get()]
        while entries[-1] is not None and not queue.empty():
            entries.append(queue.get())
        is_open = entries[-1] is not None
        yield [entry for entry in entries if entry is not None]

"""`Recorder`: decisions go to the log, many requests in one write, and only then to whoever asked."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Any, final

import numpy as np

from abstain._errors import RequestError
from abstain.decision_log import DecisionLog
from abstain.serve.watcher import Watcher, as_records
from abstain.telemetry import Measurements

Columns = dict[str, list[Any]]


@final
@dataclass(frozen=True, eq=False)
class PendingRows:
    """Rows to record, and who waits for that."""

    columns: Columns
    may_repeat: bool
    done: "asyncio.Future[None]"
    loop: asyncio.AbstractEventLoop


@final
class Recorder:
    """Writes entries in a thread: all that wait go into one write and one sync, then all of them are acknowledged.

    Parameters
    ----------
    log
        The log, if there is one.
    measurements
        Counts of decisions.
    watcher
        The monitors.
    """

    def __init__(self, log: DecisionLog | None, measurements: Measurements, watcher: Watcher, /) -> None:
        self.log, self._measurements, self._watcher = log, measurements, watcher
        self.failure: str | None = None
        """Why nothing can be recorded any more."""
        self._count = 0 if log is None else log.sequence
        self._queue: SimpleQueue[PendingRows | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="abstain-log", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    async def record(self, columns: Columns, /, *, may_repeat: bool) -> None:
        """Return once the rows are on disk; those that are in the log already are not written again."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._queue.put(PendingRows(columns, may_repeat, done, loop))
        await done

    def stop(self) -> None:
        """Write what waits, and end."""
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join()
        if self.log is not None:
            self.log.close()

    def _run(self) -> None:
        while True:
            entry = self._queue.get()
            entries = [] if entry is None else [entry]
            while entry is not None and not self._queue.empty():
                entry = self._queue.get()
                entries += [] if entry is None else [entry]
            if entries:
                self._commit(entries)
            if entry is None:
                return

    def _commit(self, entries: Sequence[PendingRows]) -> None:
        """Write entries, sync once, and tell each."""
        written: list[Columns] = []
        results: list[Exception | None] = []
        for entry in entries:
            try:
                written.append(self._append(entry))
                results.append(None)
            except RequestError as error:
                results.append(error)
            except OSError as error:  # a full disk: the log is as it was
                results.append(_refusal(error))
        if self.log is not None and self.failure is None:
            try:
                self.log.sync()
            except OSError as error:  # what is on disk is not known any more
                self.failure = str(error)
                written, results = [], [_refusal(error)] * len(entries)
        for entry, result in zip(entries, results, strict=True):
            entry.loop.call_soon_threadsafe(_settle, entry.done, result)
        for columns in written:
            self._count_rows(columns)

    def _append(self, entry: PendingRows) -> Columns:
        if self.failure is not None:
            raise _refusal(self.failure)
        if self.log is None:
            return entry.columns
        new = self.log.append(entry.columns, check=entry.may_repeat)
        return {name: [values[k] for k in new] for name, values in entry.columns.items()}

    def _count_rows(self, columns: Columns) -> None:
        n = len(columns["id"])
        if not n:
            return
        if "accepted" in columns:
            self._measurements.decided(np.array(columns["confidence"]), np.array(columns["accepted"]))
        self._watcher.add(as_records(columns, self._count + 1))
        self._count += n


def _refusal(reason: OSError | str) -> RequestError:
    """A decision that could not be written was not made."""
    return RequestError(503, f"The decision could not be recorded: {getattr(reason, 'strerror', reason)}.")


def _settle(done: "asyncio.Future[None]", error: Exception | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)

"""`Recorder`: decisions go to the log, many requests in one write, and only then to whoever asked."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Any, final

import numpy as np

from abstain._errors import RequestError
from abstain.decision_log import DecisionLog
from abstain.serve.watcher import Watcher, as_records, gathered
from abstain.telemetry import Measurements

Columns = dict[str, list[Any]]


@final
@dataclass(frozen=True, eq=False)
class PendingRows:
    """Rows to record, and who waits for that."""

    columns: Columns
    may_repeat: bool
    done: "asyncio.Future[None]"


@final
class Recorder:
    """Writes entries in a thread: all that wait go into one write and one sync, then all of them are acknowledged.

    Parameters
    ----------
    log : DecisionLog or None
        The log, if there is one.
    measurements : Measurements
        Counts of decisions.
    watcher : Watcher
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
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put(PendingRows(columns, may_repeat, done))
        await done

    def stop(self) -> None:
        """Write what waits, and end."""
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join()
        if self.log is not None:
            self.log.close()

    def _run(self) -> None:
        for entries in gathered(self._queue):
            if entries:
                self._commit(entries)

    def _commit(self, entries: Sequence[PendingRows]) -> None:
        """Write entries, sync once, and tell each; a full part of the log is closed when nobody waits for it."""
        results = [self._appended(entry) for entry in entries]
        self._attempt(DecisionLog.sync)
        if self.failure is not None:
            results = [_refusal(self.failure)] * len(entries)
        for entry, result in zip(entries, results, strict=True):
            entry.done.get_loop().call_soon_threadsafe(_settle, entry.done, result)
        for result in results:
            if not isinstance(result, RequestError):
                self._count_rows(result)
        self._attempt(DecisionLog.rotate)

    def _appended(self, entry: PendingRows) -> Columns | RequestError:
        """Those of its rows that are new, after they were written; or why they could not be."""
        if self.log is None or self.failure is not None:
            return entry.columns
        try:
            new = self.log.append(entry.columns, check=entry.may_repeat)
        except Exception as error:  # such as a full disk: the log is as it was
            return _refusal(error)
        return {name: [values[k] for k in new] for name, values in entry.columns.items()}

    def _attempt(self, step: Callable[[DecisionLog], object]) -> None:
        """A step after which, where it fails, it is not known what is on disk: then nothing is recorded any more."""
        if self.log is None or self.failure is not None:
            return
        try:
            step(self.log)
        except Exception as error:
            self.failure = _words(error)

    def _count_rows(self, columns: Columns) -> None:
        n = len(columns["id"])
        if not n:
            return
        if "accepted" in columns:
            self._measurements.decided(np.array(columns["confidence"]), np.array(columns["accepted"]))
        self._watcher.add(as_records(columns, self._count + 1))
        self._count += n


def _refusal(reason: Exception | str) -> RequestError:
    """A decision that could not be written was not made."""
    return RequestError(503, f"The decision could not be recorded: {_words(reason)}.")


def _words(reason: Exception | str) -> str:
    return str(getattr(reason, "strerror", None) or reason or type(reason).__name__).rstrip(".")


def _settle(done: "asyncio.Future[None]", result: Columns | RequestError) -> None:
    if done.done():
        return
    if isinstance(result, RequestError):
        done.set_exception(result)
    else:
        done.set_result(None)

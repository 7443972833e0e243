"""`DecisionLog`: decisions are on disk before anybody acts on them."""

import os
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Self, final

from abstain._errors import FileConflictError, InvalidInputError
from abstain._extras import require
from abstain._io.files import sync_folder, write_whole
from abstain._io.locks import alone_with
from abstain.decision_log.parts import LINES, closed_part, closed_parts, is_log, last_record_end, open_part
from abstain.decision_log.recent import RecentDecisions
from abstain.decision_log.record import SEQUENCE, Columns, Record, log_lines, rows_of
from abstain.decision_log.table import part_records, write_parquet

PART_BYTES = 64 << 20


@final
class DecisionLog:
    """A log of the decisions of one selector that is only ever added to, by one process at a time.

    `append` adds lines, `sync` puts them on disk: what was appended before a `sync` that returned survives a crash of
    the process and of the machine. `rotate` closes a large part. Opening a log removes what a crash cut off. A decision
    or label that the log has already, with the same id, is not written again. Each line has a sequence number, from 1
    on without gaps.

    Parameters
    ----------
    path : path
        A .jsonl file; or a .parquet folder, whose closed parts are Parquet files.
    selector : str
        The digest of the selector.
    part_bytes : int
        The size at which a part is closed and a new one begun. Closed parts are never changed; remove or move those
        that are no longer needed.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with DecisionLog(Path(folder.name, "d.jsonl"), selector="1f3a") as log:
    ...     rows = {"id": ["a", "b"], "confidence": [0.9, 0.2], "accepted": [True, False]}
    ...     log.append(rows), log.append(rows), log.sync()
    ([0, 1], [], 2)
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, /, *, selector: str, part_bytes: int = PART_BYTES) -> None:
        if path.suffix.lower() not in (*LINES, ".parquet"):
            raise InvalidInputError(f"`--log` must end in .jsonl or .parquet, got {path.name}.")
        if path.suffix.lower() == ".parquet":
            require("polars", extra="scale", feature="Writing a Parquet log")
            if path.exists() and not path.is_dir():
                raise FileConflictError(f"`{path}` must be a folder or new, got a file. Choose another name.")
            path.mkdir(exist_ok=True)
        elif path.exists() and path.stat().st_size and not is_log(path):
            raise FileConflictError(
                f"`{path}` must be a log of decisions or new, got another file. Choose another name."
            )
        self.path, self.selector, self.part_bytes = path, selector, part_bytes
        self.recent = RecentDecisions()
        self._file, self._next, self._first, self._full = -1, 1, 1, part_bytes
        with ExitStack() as lock:
            lock.enter_context(alone_with(open_part(path)))
            self._recover()
            self._lock = lock.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def sequence(self) -> int:
        """The sequence number of the last line, 0 where there is none."""
        return self._next - 1

    def append(self, columns: Columns, /, *, check: bool = True) -> list[int]:
        """Add rows: decisions, or labels with the columns id and error; returns the indices of those that are new.

        Without ``check`` all of them are known to be new.
        """
        rows = rows_of(columns)
        new = [k for k, row in enumerate(rows) if not (check and self.recent.is_known(row))]
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        facts = {"time": now} | ({"selector": self.selector} if "accepted" in columns else {})
        self._write(b"".join(log_lines([rows[k] for k in new], first=self._next, **facts)))
        self._next += len(new)
        self.recent.remember(rows[k] for k in new)
        return new

    def sync(self) -> int:
        """Put all lines on disk; returns the last sequence number. An error if another program changed the file."""
        os.fsync(self._file)
        if not self._is_in_place():
            raise FileConflictError(
                f"`{self.path}` must be left to its writer, got a log that another program moved, cut or extended. "
                "Start again with a new log; closed parts may be moved."
            )
        return self.sequence

    def rotate(self) -> None:
        """Close the open part under the name of its first line and begin a new one, if it is large enough.

        On a full disk it stays open; the next attempt is after as many bytes again.
        """
        if self._size < self._full:
            return
        file = open_part(self.path)
        try:
            self._close_part(file)
        except OSError:
            self._full = self._size + self.part_bytes
            return
        os.close(self._file)
        self._file = -1
        self._open(file)

    def close(self) -> None:
        """Release the file; lines that were not synced may be lost."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._lock.close()

    def _is_in_place(self) -> bool:
        """Whether the open part is still under its name and has the size that was written."""
        written = os.fstat(self._file)
        try:
            named = os.stat(open_part(self.path))
        except FileNotFoundError:
            return False
        return os.path.samestat(written, named) and written.st_size == self._size

    def _write(self, contents: bytes) -> None:
        """Write all of it, or leave the file as it was."""
        left = memoryview(contents)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except BaseException:
            os.ftruncate(self._file, self._size)
            raise
        self._size += len(contents)

    def _close_part(self, file: Path) -> None:
        closed = closed_part(self.path, self._first)
        if closed.suffix == ".parquet":
            records = list(part_records(file))
            write_whole(closed, lambda partial: write_parquet(records, partial))
            file.unlink()
        else:
            os.rename(file, closed)

    def _open(self, file: Path) -> None:
        self._file = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        self._size, self._first, self._full = os.fstat(self._file).st_size, self._next, self.part_bytes
        sync_folder(file.parent)

    def _recover(self) -> None:
        """Continue after the last whole record; remove what follows it, and lines that are in a closed part already."""
        file, closed = open_part(self.path), closed_parts(self.path)
        if closed:
            self._remember(part_records(closed[max(closed)]))
        before, first = self._next, None
        if file.exists():
            self._cut(file)
            first = self._remember(part_records(file))
        if first is not None and self._next == before:  # written as Parquet, not yet removed
            file.unlink()
            first = None
        self._open(file)
        self._first = first or self._next

    def _remember(self, records: Iterable[Record]) -> int | None:
        """Know the records of a part; the sequence number of the first one."""
        first = None
        for record in records:
            if record.get("selector", self.selector) != self.selector:
                raise FileConflictError(
                    f"`{self.path}` must be the log of this selector, {self.selector[:12]}…, got that of "
                    f"{record['selector'][:12]}…. Name a new log."
                )
            first = first or record[SEQUENCE]
            if record[SEQUENCE] >= self._next:
                self._next = record[SEQUENCE] + 1
                self.recent.remember([record])
        return first

    def _cut(self, file: Path) -> None:
        """Remove what follows the last whole record."""
        with open(file, "r+b") as stream:
            stream.truncate(last_record_end(stream))
            os.fsync(stream.fileno())

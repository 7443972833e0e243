"""Locks between processes: on a file, on a folder, and whether their holder is alive."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self, final

from abstain._errors import FileInUseError
from abstain._io.files import check_output_path, flock, short_name


@contextmanager
def alone_with(file: Path, /) -> Iterator[None]:
    """Hold a lock next to the file inside the context; an error at once where another process holds it."""
    check_output_path(file)
    with Lock(file.with_name(f".{short_name(file)}.lock")) as lock:
        if not lock.take():
            raise FileInUseError(
                f"`{file}` must not be in use, got another process at work on it{lock.holder()}. Wait for it."
            )
        yield


@final
class Lock:
    """A lock on a file, which is created if missing; it ends with its process, however that ends.

    A forked child does not inherit it. Where the system or the file system has no such locks, all are granted.
    """

    def __init__(self, file: Path, /) -> None:
        self.file = file
        self.descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        _LOCKS.add(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self, *, exclusive: bool = True, patience: float = 0) -> bool:
        """Whether the lock was granted within ``patience`` seconds; a lock held already is exchanged for it."""
        until = time.monotonic() + patience
        while flock(self.descriptor, exclusive=exclusive) is False:
            if time.monotonic() >= until:
                return False
            time.sleep(0.02)
        with suppress(OSError):  # who holds it is a courtesy: a full disk does not matter
            os.ftruncate(self.descriptor, 0)
            os.lseek(self.descriptor, 0, os.SEEK_SET)
            os.write(self.descriptor, f" ({os.getpid()} on {socket.gethostname()})".encode())
        return True

    def holder(self) -> str:
        """Process number and host name of who took it last, in brackets; empty if unknown."""
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        text = os.read(self.descriptor, 300).decode(errors="replace")
        return text if text.isprintable() else ""

    def is_in_place(self) -> bool:
        """Whether the file is still where it was: a lock on a file that was moved away keeps nobody out."""
        try:
            return os.path.samestat(os.stat(self.file), os.fstat(self.descriptor))
        except FileNotFoundError:
            return False

    def close(self) -> None:
        """Release it."""
        if self in _LOCKS:
            _LOCKS.remove(self)
            os.close(self.descriptor)


_LOCKS: set[Lock] = set()


def _close_inherited() -> None:
    for lock in tuple(_LOCKS):
        lock.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited)


@contextmanager
def locked_folder(folder: Path, /, *, exclusive: bool) -> Iterator[None]:
    """Hold a folder's lock inside the context, so that nobody reads while files are replaced; no-op on Windows."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def is_alive(process: int, /) -> bool:
    """Whether a process of this number exists; True where that cannot be known."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True

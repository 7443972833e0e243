"""Read files with errors that name them, write them whole or not at all."""

import errno
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Self, final


def write_whole(goal: Path, write: Callable[[Path], object], /) -> None:
    """Let ``write`` fill a file beside the goal, sync it, and move it there in one step; a failure leaves no trace."""
    check_goal(goal)
    partial = goal.with_name(f".{goal.stem}.{os.getpid()}.{token_hex(4)}{goal.suffix}")
    try:
        write(partial)
        with open(partial, "rb") as stream:
            os.fsync(stream.fileno())
        os.replace(partial, goal)
    except OSError as error:
        with suppress(OSError):  # a name that is too long cannot be removed either
            partial.unlink(missing_ok=True)
        if str(error.filename) != str(partial):
            raise
        raise OSError(error.errno, error.strerror, str(goal)) from None
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def check_goal(goal: Path, /) -> None:
    """A file can be written there: a long computation need not end with the news that it cannot."""
    if not goal.absolute().parent.is_dir():
        raise FileNotFoundError(f"`{goal}` must be in a folder that exists, got none. Make {goal.parent} first.")
    if goal.exists() and not goal.is_file():
        kind = "a folder" if goal.is_dir() else "a device"
        raise FileExistsError(f"`{goal}` must be a file to write, got {kind}. Choose another name.")


@contextmanager
def reading(file: Path, what: str, /) -> Iterator[None]:
    """For the time of a with block: of a file that cannot be read, say which it is and what it should be."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"`{file}` must exist and be {what}, got no such file.") from None
    except IsADirectoryError:
        raise IsADirectoryError(f"`{file}` must be {what}, got a folder.") from None
    except PermissionError:
        raise PermissionError(f"`{file}` must be {what} that you may read, got no permission.") from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(f"`{file}` must be {what} in UTF-8, got the byte 0x{byte:02x}. Save it in UTF-8.") from None


def read_text(file: Path, what: str, /) -> str:
    """The text in a file, which should be ``what``."""
    with reading(file, what):
        return file.read_text(encoding="utf-8")


@contextmanager
def alone_with(file: Path, /) -> Iterator[None]:
    """Hold a lock beside the file inside the context; an error at once where somebody else holds it."""
    check_goal(file)
    with Lock(file.with_name(f".{file.name}.lock")) as lock:
        if not lock.take():
            raise BlockingIOError(
                f"`{file}` must not be in use, got another process at work on it{lock.holder()}. Wait for it."
            )
        yield


@final
class Lock:
    """A lock on a file, made where there is none, which ends with its process however that ends.

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
        """Whether the lock could be taken within ``patience`` seconds; one held already is exchanged for it."""
        until = time.monotonic() + patience
        while not _flock(self.descriptor, exclusive=exclusive):
            if time.monotonic() >= until:
                return False
            time.sleep(0.02)
        with suppress(OSError):  # who holds it is a courtesy: a full disk does not matter
            os.ftruncate(self.descriptor, 0)
            os.lseek(self.descriptor, 0, os.SEEK_SET)
            os.write(self.descriptor, f" ({os.getpid()} on {socket.gethostname()})".encode())
        return True

    def holder(self) -> str:
        """Number and machine of the process that took it last, in brackets, or nothing."""
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        found = os.read(self.descriptor, 300).decode(errors="replace")
        return found if found.isprintable() else ""

    def is_in_place(self) -> bool:
        """Whether the file is still where it was: a lock on one that was moved away keeps nobody out."""
        try:
            there = os.stat(self.file)
        except FileNotFoundError:
            return False
        return os.path.samestat(there, os.fstat(self.descriptor))

    def close(self) -> None:
        """Let it go."""
        if self in _LOCKS:
            _LOCKS.remove(self)
            os.close(self.descriptor)


_LOCKS: set[Lock] = set()


def _close_inherited() -> None:
    for lock in tuple(_LOCKS):
        lock.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited)


def _flock(descriptor: int, *, exclusive: bool) -> bool:
    """Whether the lock was granted; where there are no such locks it is."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


@contextmanager
def locked_folder(folder: Path, /, *, exclusive: bool) -> Iterator[None]:
    """Hold a folder's lock for the time of a with block, so that nobody reads while files are exchanged.

    Where the system has no such locks there is none.
    """
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


def write_text(goal: Path, text: str, /) -> None:
    """Write a text, whole or not at all."""
    write_whole(goal, lambda partial: partial.write_text(text, encoding="utf-8"))


def is_alive(process: int, /) -> bool:
    """Whether there is a process of this number, as far as one may know."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True

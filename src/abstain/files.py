"""Read files with errors that name them, write them whole or not at all."""

import errno
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EIO
from functools import cache
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE
from typing import Self, final

PARTIAL = ".abstain-partial."
LONGEST_NAME, LONGEST_SUFFIX = 200, 16  # of file names, so that what is added to them fits


def write_whole(goal: Path, write: Callable[[Path], object], /) -> None:
    """Let ``write`` fill a file beside the goal, sync it, and move it there in one step; a failure leaves no trace.

    A link stays and the file it names is replaced, which keeps its mode. What a killed process left in the folder is
    removed.
    """
    file = Path(os.path.realpath(goal))
    check_goal(goal if file.parent == goal.absolute().parent else file)
    _remove_litter(file.parent)
    ending = file.suffix if len(file.suffix) < LONGEST_SUFFIX and file.suffix.isascii() else ""
    partial = file.with_name(f"{PARTIAL}{token_hex(8)}{ending}")
    try:
        with naming(goal, partial), _owned(partial, private=file.exists()) as descriptor:
            write(partial)
            os.fsync(descriptor)
            if file.exists():
                os.chmod(partial, S_IMODE(file.stat().st_mode))
            os.replace(partial, file)
    except BaseException:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


@contextmanager
def naming(goal: Path, partial: Path | None = None, /) -> Iterator[None]:
    """Of what cannot be written inside the context, name the goal: a full disk names no file."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and str(error.filename) != str(partial):
            raise
        if " must " in str(error):  # a message of ours
            raise
        raise OSError(error.errno or EIO, error.strerror or str(error), str(goal)) from None


@contextmanager
def _owned(partial: Path, *, private: bool) -> Iterator[int]:
    """A new file, locked inside the context: as long as this process lives nobody takes it for litter."""
    descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600 if private else 0o666)
    try:
        _lock(descriptor)
        yield descriptor
    finally:
        os.close(descriptor)


@cache
def _remove_litter(folder: Path) -> None:
    """What killed processes left in a folder, looked for once: a living one holds a lock on what it writes."""
    with suppress(OSError):
        for litter in folder.glob(f"{PARTIAL}*"):
            descriptor = os.open(litter, os.O_RDWR)
            try:
                if _lock(descriptor):
                    litter.unlink(missing_ok=True)
            finally:
                os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Lock an open file for as long as it is open; False where somebody has, or where the system has no such locks."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def check_goal(goal: Path, /) -> None:
    """A file can be written there: a long computation need not end with the news that it cannot."""
    if not goal.absolute().parent.is_dir():
        raise FileNotFoundError(f"`{goal}` must be in a folder that exists, got none. Make {goal.parent} first.")
    if goal.exists() and not goal.is_file():
        kind = "a folder" if goal.is_dir() else "a device"
        raise FileExistsError(f"`{goal}` must be a file to write, got {kind}. Choose another name.")


@contextmanager
def reading(file: Path, what: str, /, *, may_be_pipe: bool = False) -> Iterator[None]:
    """Of a file that cannot be read inside the context, say which it is and what it should be.

    A pipe, at which one could wait for ever, is refused unless it may be one.
    """
    try:
        if not may_be_pipe and file.exists() and not file.is_file() and not file.is_dir():
            raise ValueError(f"`{file}` must be {what}, got a pipe or a device. Write it to a file first.")
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
    with Lock(file.with_name(f".{short_name(file)}.lock")) as lock:
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


def short_name(file: Path, /) -> str:
    """The name of a file, or of a long one a digest, so that something can be added to it."""
    name = os.fsencode(file.name)
    return file.name if len(name) <= LONGEST_NAME else sha256(name).hexdigest()


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

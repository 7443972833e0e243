"""Read files with errors that name them, write them whole or not at all."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex


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
    """Hold a lock beside the file for the time of a with block; an error at once where somebody else holds it.

    Where the system has no such locks there is none.
    """
    check_goal(file)
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(file.with_name(f".{file.name}.lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BlockingIOError(
                f"`{file}` must not be in use, got another process at work on it. Wait for it."
            ) from None
        yield


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

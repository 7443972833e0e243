"""Write files whole or not at all."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex


def write_whole(goal: Path, write: Callable[[Path], object], /) -> None:
    """Let ``write`` fill a file beside the goal, sync it, and move it there in one step; a failure leaves no trace."""
    if not goal.parent.is_dir():
        raise FileNotFoundError(f"`{goal}` must be in a folder that exists, got none at {goal.parent}. Make it first.")
    partial = goal.with_name(f".{goal.stem}.{os.getpid()}.{token_hex(4)}{goal.suffix}")
    try:
        write(partial)
        with open(partial, "rb") as stream:
            os.fsync(stream.fileno())
        os.replace(partial, goal)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def alone_with(file: Path, /) -> Iterator[None]:
    """Hold a lock beside the file for the time of a with block; an error at once where somebody else holds it.

    Where the system has no such locks there is none.
    """
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


def write_text(goal: Path, text: str, /) -> None:
    """Write a text, whole or not at all."""
    write_whole(goal, lambda partial: partial.write_text(text, encoding="utf-8"))

"""Write files whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex


def write_whole(goal: Path, write: Callable[[Path], object], /) -> None:
    """Let ``write`` fill a file beside the goal, sync it, and move it there in one step; a failure leaves no trace."""
    partial = goal.with_name(f".{goal.stem}.{os.getpid()}.{token_hex(4)}{goal.suffix}")
    try:
        write(partial)
        with open(partial, "rb") as stream:
            os.fsync(stream.fileno())
        os.replace(partial, goal)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def write_text(goal: Path, text: str, /) -> None:
    """Write a text, whole or not at all."""
    write_whole(goal, lambda partial: partial.write_text(text, encoding="utf-8"))

"""Code and files that are not ours: what goes wrong in them is told as such."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def foreign(rule: str, /) -> Iterator[None]:
    """For the time of a with block an error that nobody raised on purpose is a ValueError: the ``rule``, the reason."""
    try:
        yield
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        if is_meant(error):
            raise
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(f"{rule}, got {type(error).__name__}: {reason}.") from error


def is_meant(error: BaseException, /) -> bool:
    """Whether this package raised the error on purpose: its last line is ours, and it says what *must* be, as ours do.

    What a line of ours runs into otherwise, nobody thought of.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    ours = trace is not None and str(trace.tb_frame.f_globals.get("__name__", "")).startswith("abstain.")
    return ours and (" must " in str(error) or type(error).__module__.startswith("abstain."))

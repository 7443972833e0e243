"""Code that is not ours: what goes wrong in it is said in one line of ours."""

from collections.abc import Iterator
from contextlib import contextmanager

from abstain.extras import MissingExtraError


@contextmanager
def foreign(rule: str, /) -> Iterator[None]:
    """For the time of a with block any error is a ValueError with the ``rule`` that was broken and the reason."""
    try:
        yield
    except (MissingExtraError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(f"{rule}, got {type(error).__name__}: {reason}.") from error

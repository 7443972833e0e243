"""`Limits`: what a request may cost; and names of rows that every log and table can hold."""

from dataclasses import dataclass
from typing import final

from abstain._errors import InvalidInputError

LONGEST_NAME = 500


@final
@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on requests.

    Parameters
    ----------
    body : int
        Bytes of a body; a larger one gets status 413.
    seconds : float
        Time for a request: 408 where its body is late, 503 where the answer is; a connection is closed where its header
        is, or where nobody reads the answer.
    requests : int
        Requests at work at once; one more gets status 503.
    """

    body: int = 16 << 20
    seconds: float = 10.0
    requests: int = 256

    def __post_init__(self) -> None:
        for name in ("body", "seconds", "requests"):
            if not getattr(self, name) > 0:
                raise InvalidInputError(f"`{name}` must be above 0, got {getattr(self, name)}.")


def check_row_name(name: str, what: str, /) -> None:
    """Refuse a name of a row or group that is blank, too long, or not printable, such as half of a surrogate pair."""
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidInputError(f"`{what}` must be printable, of 1 to {LONGEST_NAME} characters, got {name!r:.60}.")

"""`Limits`: what a request may cost."""

from dataclasses import dataclass
from typing import final

from abstain._errors import InvalidInputError


@final
@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on requests.

    Parameters
    ----------
    body
        Bytes of a body; a larger one gets status 413.
    seconds
        Time for a request: 408 where its body is late, 503 where the answer is; a connection is closed where its header
        is, or where nobody reads the answer.
    requests
        Requests at work at once; one more gets status 503.
    """

    body: int = 16 << 20
    seconds: float = 10.0
    requests: int = 256

    def __post_init__(self) -> None:
        for name in ("body", "seconds", "requests"):
            if not getattr(self, name) > 0:
                raise InvalidInputError(f"`{name}` must be above 0, got {getattr(self, name)}.")

"""Connections that are closed where the peer stalls, so that no number of idle ones can stop the service."""

from asyncio import Transport
from typing import Any

from abstain._extras import require

HEADER_BYTES = 1 << 16
HEADER, BODY, RESPONSE = PARTS = "header", "body", "response"
Base: Any = require("uvicorn.protocols.http.httptools_impl", extra="serve", feature="Serving").HttpToolsProtocol


class Connection(Base):  # type: ignore[misc]
    """A connection of uvicorn, which itself has limits for neither the time nor the size of a header.

    Parameters
    ----------
    seconds : float
        Time for the header of a request, for the rest of a body that nobody waits for, and for a response to be taken;
        then the connection is closed.
    options : object
        Those of uvicorn.
    """

    def __init__(self, *, seconds: float, **options: Any) -> None:
        super().__init__(**options)
        self._seconds = seconds
        self._timers: dict[str, Any] = {}

    def connection_made(self, transport: Transport) -> None:
        """Wait for the first header."""
        super().connection_made(transport)
        self._await(HEADER)

    def connection_lost(self, error: Exception | None) -> None:
        """Wait for nothing more."""
        super().connection_lost(error)
        for what in PARTS:
            self._arrived(what)

    def data_received(self, data: bytes) -> None:
        """Close where a header is too large."""
        self._header += len(data)
        super().data_received(data)
        if self._header > HEADER_BYTES and HEADER in self._timers:
            self.transport.abort()

    def on_message_begin(self) -> None:
        """Wait for a header, from its first byte on where the connection is kept."""
        super().on_message_begin()
        self._await(HEADER)

    def on_headers_complete(self) -> None:
        """The header has come."""
        self._arrived(HEADER)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The body has come."""
        super().on_message_complete()
        self._arrived(BODY)

    def on_response_complete(self) -> None:
        """Wait for the rest of a body that the response did not need."""
        if self.cycle.more_body:
            self._await(BODY)
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Wait for the peer to read."""
        super().pause_writing()
        self._await(RESPONSE)

    def resume_writing(self) -> None:
        """The peer has read."""
        super().resume_writing()
        self._arrived(RESPONSE)

    def _await(self, what: str) -> None:
        if what == HEADER:
            self._header = 0
        if what not in self._timers:
            self._timers[what] = self.loop.call_later(self._seconds, self.transport.abort)

    def _arrived(self, what: str) -> None:
        if timer := self._timers.pop(what, None):
            timer.cancel()

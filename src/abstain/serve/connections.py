"""Connections that are closed where the peer stalls, so that no number of idle ones can stop the service."""

from asyncio import Transport
from typing import Any

from abstain._extras import require
from abstain.serve.limits import Limits

FEATURE = "Serving"
HEADER_BYTES = 1 << 16
HEADER, BODY, RESPONSE = PARTS = "header", "body", "response"


def connection_class(limits: Limits, /) -> type:
    """A protocol for uvicorn, which has limits for neither the time nor the size of a header.

    Parameters
    ----------
    limits
        On requests: ``seconds`` for the header of a request, for the rest of a body that nobody waits for, and for a
        response to be taken; then the connection is closed.

    Returns
    -------
    type
        For ``uvicorn.Config(http=…)``.
    """
    base: Any = require("uvicorn.protocols.http.httptools_impl", extra="serve", feature=FEATURE).HttpToolsProtocol

    class Connection(base):  # type: ignore[misc]
        """One connection."""

        def connection_made(self, transport: Transport) -> None:
            super().connection_made(transport)
            self._timers: dict[str, Any] = {}
            self._await(HEADER)

        def connection_lost(self, error: Exception | None) -> None:
            super().connection_lost(error)
            for what in PARTS:
                self._arrived(what)

        def data_received(self, data: bytes) -> None:
            self._header += len(data)
            super().data_received(data)
            if self._header > HEADER_BYTES and HEADER in self._timers:
                self.transport.abort()

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._await(HEADER)

        def on_headers_complete(self) -> None:
            self._arrived(HEADER)
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            super().on_message_complete()
            self._arrived(BODY)

        def on_response_complete(self) -> None:
            if self.cycle.more_body:
                self._await(BODY)
            super().on_response_complete()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._await(RESPONSE)

        def resume_writing(self) -> None:
            super().resume_writing()
            self._arrived(RESPONSE)

        def _await(self, what: str) -> None:
            if what == HEADER:
                self._header = 0
            if what not in self._timers:
                self._timers[what] = self.loop.call_later(limits.seconds, self.transport.abort)

        def _arrived(self, what: str) -> None:
            if timer := self._timers.pop(what, None):
                timer.cancel()

    return Connection

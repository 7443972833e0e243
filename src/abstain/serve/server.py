"""The server: uvicorn with an application, until SIGTERM or SIGINT."""

import socket
from functools import partial
from typing import Any

from abstain._errors import InvalidInputError
from abstain._extras import require
from abstain.serve.application import FEATURE, application
from abstain.serve.connections import Connection
from abstain.serve.limits import Limits
from abstain.serve.service import Service

uvicorn = require("uvicorn", extra="serve", feature=FEATURE)
GRACE = 10  # seconds in which requests may end after a signal


def run_server(service: Service, listener: socket.socket, /, *, limits: Limits | None = None) -> None:
    """Serve until a signal; then requests at work are answered, the log is written and the monitors are saved.

    Parameters
    ----------
    service : Service
        What is served.
    listener : socket
        The socket, as `listen` makes it.
    limits : Limits, optional
        On requests.
    """
    limits = limits or Limits()
    config = uvicorn.Config(
        application(service, limits=limits),
        log_level="error",
        access_log=False,
        lifespan="on",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=GRACE,
        limit_concurrency=4 * limits.requests,
        http=partial(Connection, seconds=limits.seconds),
        server_header=False,
    )
    server: Any = uvicorn.Server(config)
    server.run(sockets=[listener])


def listen(host: str, port: int, /) -> socket.socket:
    """A socket that listens; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # or asyncio leaves Nagle's delays on
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise InvalidInputError(
            f"`--host` and `--port` must be an address that is free here, got {host}:{port} ({error.strerror})."
        ) from None
    return listener

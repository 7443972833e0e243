"""The engine of a Ray cluster: its tasks, which it runs again where a worker dies.

A task is named by rows of a file and its result is taken once, so none is counted twice. Ray Data's own reader is not
used, since its blocks do not carry the file and row numbers.
"""

import logging
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

from abstain._errors import WorkerDiedError, foreign
from abstain._extras import require
from abstain._kernels.blocks import alone
from abstain.scale.engine import Engine

ANSWERED_WITHIN = 10  # seconds
LOOPBACK = "127.0.0.1"
RETRIES = 5  # of a task whose worker died
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
ONE_MACHINE = ("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "ENABLE_RAY_CLUSTER")  # the variable, and the constant made of it


@contextmanager
def ray_engine(*, workers: int | None, address: str | None) -> Iterator[Engine]:
    """The cluster at an address, or one of this machine alone for as long as it is needed."""
    os.environ.update({name: os.environ.get(name, value) for name, value in QUIET.items()})
    ray = require("ray", extra="ray", feature="The engine ray")
    if ray.is_initialized():  # by the caller, who ends it too
        yield _engine(ray)
        return
    own = {"num_cpus": workers, "include_dashboard": False, "_node_ip_address": LOOPBACK}
    where = {"address": "local", **own} if address is None else {"address": address}
    with foreign(
        f"`address` must be that of a Ray cluster that lets you in, such as auto or host:6379, not {address!r}"
    ):
        _check_answers(address)
        with _loopback() if address is None else nullcontext():
            ray.init(**where, log_to_driver=False, logging_level=logging.CRITICAL)
    try:
        yield _engine(ray)
    finally:
        ray.shutdown()


def _engine(ray: Any) -> Engine:
    task = ray.remote(max_retries=RETRIES, num_cpus=1)(alone)
    workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
    return Engine(lambda work: partial(task.remote, ray.put(work)), partial(_result, ray), ray.cancel, 3 * workers)


def _result(ray: Any, task: Any) -> Any:
    try:
        return ray.get(task)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise WorkerDiedError(
            f"`engine` must have live workers, got a task whose worker died {RETRIES + 1} times: {reason}. "
            "Use fewer `workers`, so that each has more memory, or the engine `local`."
        ) from None


@contextmanager
def _loopback() -> Iterator[None]:
    """Let a cluster that is started inside the context listen on loopback.

    Asked for 127.0.0.1, Ray takes the address of the network card instead and listens on all of them, unless a constant
    says that there will be no other machine.
    """
    variable, constant = ONE_MACHINE
    constants = vars(sys.modules.get("ray._private.ray_constants", sys))  # read when Ray was imported, perhaps long ago
    before = os.environ.get(variable), constants.get(constant)
    os.environ[variable], constants[constant] = "0", False  # the variable is for the processes that Ray starts
    try:
        yield
    finally:
        del os.environ[variable]
        if before[0] is not None:
            os.environ[variable] = before[0]
        constants[constant] = before[1]


def _check_answers(address: str | None) -> None:
    """Check that a host and port answer: Ray itself would try for many minutes and print a line each time."""
    host, colon, port = (address or "").rpartition("://")[2].partition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=ANSWERED_WITHIN).close()

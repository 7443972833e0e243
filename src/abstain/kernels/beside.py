"""A second process that compiles, while the first does, what the first will need later.

Numba looks on disk before it compiles, so that the first process finds there what the second has compiled. No result
depends on it: whatever goes wrong in it leaves more to compile for the first.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, final

from numba.core import event

from abstain.kernels.blocks import usable_cores


@contextmanager
def compiling_beside() -> Iterator[None]:
    """Within it, the second process is started when a kernel is not on disk, and ended at the end of the work.

    For commands: a library must not start processes in a program that may not expect them.
    """
    helps = usable_cores() > 1 and hasattr(signal, "pthread_sigmask")  # by which it is never ended while it writes
    if not helps or sys.flags.ignore_environment:  # which may name other places to import from
        yield
        return
    starter = _Starter()
    try:
        with event.install_listener("numba:compile", starter):
            yield
    finally:
        starter.end()


@final
class _Starter(event.Listener):
    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_started = False

    def on_start(self, event: Any) -> None:
        if self._is_started:
            return
        self._is_started = True
        kind = str(getattr(event.data["args"][0], "dtype", ""))
        words = [sys.executable, "-P", "-B", "-m", "abstain.kernels", kind]
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        with suppress(OSError):  # a break from the keyboard is for the first process, which then ends the second
            self._process = subprocess.Popen(words, process_group=0, **quiet)  # type: ignore[call-overload]

    def on_end(self, event: Any) -> None:
        pass

    def end(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
